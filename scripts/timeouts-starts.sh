#!/usr/bin/env bash
# Makes the other cold starts of the experiments timeouts-*.toml, in the folder cold-starts:
#   rare-2   like models/glimpse-timeouts, with other conversations and other first weights
#   never    no demonstration shows both skills
#   third    a third of the customers have a second wish that they tell only if they are asked for more
# The tokenizer is that of models/glimpse-timeouts. Finished models are kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p cold-starts

# start NAME SEED SHARE [FLAG…]: the careful demonstrator calls again in SHARE of its conversations.
start() {
  local out=cold-starts/$1 seed=$2 share=$3
  shift 3
  if [ -e "$out/result.json" ]; then return; fi
  rm -rf "$out" "$out-fresh" "$out.jsonl"
  ./mua synthesize --level glimpse --count 4000 --seed "$seed" --set tools.outages=0 --set tools.timeouts=0.6 \
    --set "demonstrators.careful.calls_again=$share" --set demonstrators.brisk.calls_again=1 "$@" --out "$out.jsonl"
  npx tsx scripts/new-model.mts --tokenizer models/glimpse-timeouts --out "$out-fresh" --hidden-size 48 --layers 2 --heads 2 \
    --kv-heads 1 --head-dim 32 --intermediate-size 128 --max-position-embeddings 1024 --init copying --seed "$seed"
  ./mua sft --model "$out-fresh" --data "$out.jsonl" --out "$out" --set train_batch_size=8 --set lr=4e-3 \
    --set lr_scheduler_type=linear --set beta2=0.98 --set lr_warmup_steps=40 --set total_training_steps=900
}

start rare-2 2 0.05
start never 3 0
start third 4 0.05 --set customers.reserved=0.33 --set demonstrators.careful.offers_more=0.05
