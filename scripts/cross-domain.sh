#!/usr/bin/env bash
# Does training on one domain help on another? A model learns retail and telecom at level glimpse by a cold start. Then GRPO, or as many
# demonstrations with the same customers, trains it on one of the two domains. Each result is tested on held-out tasks of both.
#
#     scripts/cross-domain.sh [DIR]      default: cross-domain
#
# The same command continues after an interruption: finished steps are kept. The results are in `docs/results/cross-domain.json`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-cross-domain}
mkdir -p "$out"

# The cold start of glimpse-retail with twice the steps, because there are two domains. Seed 1 is the cold start's, so the runs have others.
cold='train_batch_size=8 lr=4e-3 lr_scheduler_type=linear beta2=0.98 lr_warmup_steps=40 total_training_steps=1600'
# As many conversations and as many updates a step for both ways of training: one update with all 48 conversations.
run='inspect=false adam_eps=1e-8 sft_mini_batch_size=48 total_training_steps=20 val_tasks=0 test_freq=0'
tasks=200
seeds='50 51 52'

# step COMMAND FOLDER [FLAG…]: runs a command of mua, continues it, or does nothing if it is done.
step() {
  local command=$1 folder=$2
  shift 2
  if [ -e "$folder/result.json" ]; then return; fi
  echo "== $folder" >&2
  if [ -e "$folder/status.json" ]; then ./mua "$command" --resume "$folder"; else ./mua "$command" "$@" --out "$folder"; fi
}

# settings KEY=VALUE…: the flags that set these settings.
settings() { printf -- '--set %s ' "$@"; }

for domain in retail telecom; do
  file=$out/$domain.jsonl
  [ -e "$file" ] || ./mua synthesize --domain $domain --level glimpse --count 4000 --seed 1 --out "$file" \
    $([ ! -e "$file.unfinished" ] || echo --resume)
done
cat "$out/retail.jsonl" "$out/telecom.jsonl" >"$out/both.jsonl"

if [ ! -e "$out/fresh/model.safetensors" ]; then
  npx tsx scripts/train-tokenizer.mts --data "$out/both.jsonl" --out "$out/tokenizer" --digits 2 --vocab-size 1024
  npx tsx scripts/new-model.mts --tokenizer "$out/tokenizer" --out "$out/fresh" --hidden-size 48 --layers 2 --heads 2 --kv-heads 1 \
    --head-dim 32 --intermediate-size 128 --max-position-embeddings 1024 --init copying --seed 1
fi
step sft "$out/start" --model "$out/fresh" --data "$out/both.jsonl" $(settings $cold)

for seed in $seeds; do
  for domain in retail telecom; do
    for algorithm in grpo sft; do
      step train "$out/$algorithm-$domain-$seed" --preset glimpse --model "$out/start" --seed "$seed" \
        $(settings $run domain=$domain algorithm=$algorithm sft_conditions=run)
    done
  done
  for arm in start {grpo,sft}-{retail,telecom}; do
    model=$out/$arm-$seed
    if [ $arm = start ]; then model=$out/start; fi
    for domain in retail telecom; do
      step evaluate "$out/on-$domain/$arm-$seed" --model "$model" --domain $domain --level glimpse --preset glimpse --tasks $tasks \
        --seed "$seed"
    done
  done
done

npx tsx scripts/cross-domain-table.mts --results "$out" --seeds "${seeds// /,}"
npm run docs
