#!/usr/bin/env bash
# Makes the other cold starts of the experiments timeouts-*.toml, in the folder cold-starts:
#   rare-2   like models/glimpse-timeouts, with other conversations and other first weights
#   never    no demonstration shows both skills
#   third    a third of the customers have a second wish that they tell only if they are asked for more
#   nano     models/nano-retail learns a world with timeouts
# The tokenizer is that of the bundled model of the level. Finished models are kept.
#
#     scripts/timeouts-starts.sh [NAME…]      default: all
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p cold-starts

# demonstrate NAME LEVEL SEED SHARE [FLAG…]: the careful demonstrator calls again in SHARE of its conversations.
demonstrate() {
  ./mua synthesize --level "$2" --count 4000 --seed "$3" --set tools.outages=0 --set tools.timeouts=0.6 \
    --set "demonstrators.careful.calls_again=$4" "${@:5}" --out "cold-starts/$1.jsonl"
}

# learn NAME MODEL FLAG…
learn() {
  ./mua sft --model "$2" --data "cold-starts/$1.jsonl" --out "cold-starts/$1" "${@:3}" --set lr_scheduler_type=linear --set beta2=0.98 \
    --set lr_warmup_steps=40
}

# glimpse NAME SEED SHARE [FLAG…]: a model of level glimpse from random weights.
glimpse() {
  demonstrate "$1" glimpse "$2" "${@:3}"
  npx tsx scripts/new-model.mts --tokenizer models/glimpse-timeouts --out "cold-starts/$1-fresh" --hidden-size 48 --layers 2 --heads 2 \
    --kv-heads 1 --head-dim 32 --intermediate-size 128 --max-position-embeddings 1024 --init copying --seed "$2"
  learn "$1" "cold-starts/$1-fresh" --set train_batch_size=8 --set lr=4e-3 --set total_training_steps=900
}

if [ $# -eq 0 ]; then set -- rare-2 never third nano; fi
for start in "$@"; do
  out=cold-starts/$start
  if [ -e "$out/result.json" ]; then continue; fi
  rm -rf "$out" "$out-fresh" "$out.jsonl"
  case $start in
    rare-2) glimpse rare-2 2 0.05 ;;
    never) glimpse never 3 0 ;;
    third) glimpse third 4 0.05 --set customers.reserved=0.33 --set demonstrators.careful.offers_more=0.05 ;;
    nano)
      demonstrate nano nano 5 0.05
      learn nano models/nano-retail --seed 5 --set train_batch_size=4 --set lr=2e-3 --set total_training_steps=800
      ;;
    *)
      echo "unknown start '$start': expected rare-2, never, third or nano" >&2
      exit 1
      ;;
  esac
done
