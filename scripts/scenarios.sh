#!/usr/bin/env bash
# The experiment public/experiments/scenarios.toml with its cold start: a model with 129,392 parameters learns four scenarios at level nano
# from 6,000 conversations. Then GRPO or supervised learning trains it on one of them.
#
#     scripts/scenarios.sh [DIR]      default: cold-starts/scenarios-runs, for the runs
#
# The same command continues after an interruption, and prints the table when all runs are done. `./mua experiment --report DIR` prints what
# is finished so far.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
starts=cold-starts
out=${1:-$starts/scenarios-runs}
start=$starts/scenarios
mkdir -p "$starts"

for domain in rooms library courses jobs; do
  file=$starts/scenarios-$domain.jsonl
  [ -e "$file" ] || ./mua synthesize --domain "$domain" --level nano --count 1500 --seed 1 --out "$file" \
    $([ ! -e "$file.unfinished" ] || echo --resume)
done
cat $starts/scenarios-{rooms,library,courses,jobs}.jsonl >"$start.jsonl"

if [ ! -e "$start-fresh/model.safetensors" ]; then
  npx tsx scripts/train-tokenizer.mts --data "$start.jsonl" --out "$start-tokenizer" --digits 2 --vocab-size 1536
  npx tsx scripts/new-model.mts --tokenizer "$start-tokenizer" --out "$start-fresh" --hidden-size 48 --layers 2 --heads 2 --kv-heads 1 \
    --head-dim 32 --intermediate-size 128 --max-position-embeddings 2048 --init copying --seed 1
fi

# Without a checkpoint there is nothing to continue.
if [ ! -e "$start/result.json" ]; then
  if ls "$start"/checkpoint-*.safetensors >/dev/null 2>&1; then
    ./mua sft --resume "$start"
  else
    ./mua sft --model "$start-fresh" --data "$start.jsonl" --out "$start" --force --set train_batch_size=8 --set lr=4e-3 \
      --set lr_scheduler_type=linear --set beta2=0.98 --set lr_warmup_steps=40 --set total_training_steps=3000
  fi
fi
./mua experiment public/experiments/scenarios.toml --out "$out"
