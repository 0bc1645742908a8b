#!/usr/bin/env bash
# Does training on one domain help on another? A model learns retail and telecom by a cold start. Then GRPO, or as many
# demonstrations, trains it on one of the two domains. Each result is tested on both.
#
#     scripts/cross-domain.sh [DIR]      default: cross-domain
#
# The same command continues after an interruption: finished steps are kept. The last lines are the table.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-cross-domain}
mkdir -p "$out"

# Conversations of telecom are longer than those of retail. Seeds 1 and 2 are the cold start's, so the runs have others.
cold='train_batch_size=4 lr_scheduler_type=linear beta2=0.98 lr_warmup_steps=40 max_model_len=2048'
run='inspect=false adam_eps=1e-8 sft_mini_batch_size=64 max_model_len=2048 val_tasks=0 test_freq=0'
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

for seed in 1 2; do
  for domain in retail telecom; do
    file=$out/$domain-$seed.jsonl
    [ -e "$file" ] || ./mua synthesize --domain $domain --level nano --count 6000 --seed $seed --out "$file"
  done
  cat "$out/retail-$seed.jsonl" "$out/telecom-$seed.jsonl" >"$out/both-$seed.jsonl"
done

if [ ! -e "$out/fresh/model.safetensors" ]; then
  npx tsx scripts/train-tokenizer.mts --data "$out/both-1.jsonl" --out "$out/tokenizer" --digits 2 --vocab-size 1536
  npx tsx scripts/new-model.mts --tokenizer "$out/tokenizer" --out "$out/fresh" --hidden-size 64 --layers 3 --heads 4 --kv-heads 2 \
    --head-dim 32 --intermediate-size 192 --init copying --seed 1
fi
# The rates and twice the steps of the cold start of nano-retail, because there are two domains.
step sft "$out/half" --model "$out/fresh" --data "$out/both-1.jsonl" $(settings $cold lr=4e-3 total_training_steps=3200)
step sft "$out/start" --model "$out/half" --data "$out/both-2.jsonl" --seed 2 $(settings $cold lr=3e-3 total_training_steps=2400)

for seed in $seeds; do
  for domain in retail telecom; do
    for algorithm in grpo sft; do
      step train "$out/$algorithm-$domain-$seed" --preset nano --model "$out/start" --seed "$seed" \
        $(settings $run domain=$domain algorithm=$algorithm sft_conditions=run)
    done
  done
  for arm in start {grpo,sft}-{retail,telecom}; do
    model=$out/$arm-$seed
    if [ $arm = start ]; then model=$out/start; fi
    for domain in retail telecom; do
      step evaluate "$out/on-$domain/$arm-$seed" --model "$model" --domain $domain --level nano --preset nano --tasks $tasks \
        --seed "$seed" --set max_model_len=2048
    done
  done
done

npx tsx scripts/cross-domain-table.mts --results "$out" --seeds "${seeds// /,}"
