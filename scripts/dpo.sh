#!/usr/bin/env bash
# Does preference optimisation on near-misses help? The cold start of scripts/scenarios.sh learns from pairs of rooms: by DPO, or by supervised
# learning on the chosen answers alone, with the same rows and as many updates. Both learning rates are chosen with a seed of their own.
#
#     scripts/dpo.sh [DIR]      default: cold-starts/dpo
#
# The same command continues after an interruption. It writes docs/results/dpo.json and the table of docs/results/dpo.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-cold-starts/dpo}
start=cold-starts/scenarios
[ -e $start/result.json ] || { echo "$start/result.json is missing: expected the cold start of scripts/scenarios.sh; run that first" >&2; exit 1; }
mkdir -p "$out"

pairs=400
tuned=60
seeds='71 72 73'
declare -A rates=([dpo]='1e-5 3e-5 1e-4 3e-4 1e-3' [sft]='3e-5 1e-4 3e-4 1e-3 3e-3')

# step COMMAND FOLDER FLAG…: runs a command of mua, continues it, or does nothing if it is done.
step() {
  local command=$1 folder=$2
  shift 2
  if [ -e "$folder/result.json" ]; then return; fi
  echo "== $folder" >&2
  # A training without a checkpoint has nothing to continue.
  if ls "$folder"/checkpoint-*.safetensors "$folder"/trajectories-1.jsonl >/dev/null 2>&1; then
    ./mua "$command" --resume "$folder"
  else
    ./mua "$command" "$@" --out "$folder" --force
  fi
}

# evaluated MODEL FOLDER SEED: 200 held-out tasks, with the settings of scenarios.toml.
evaluated() {
  step evaluate "$2" --model "$1" --domain rooms --level nano --preset glimpse --tasks 200 --seed "$3" \
    --set max_turns=24 --set response_length_one_turn=96 --set max_model_len=1536
}

# learned COMMAND SEED RATE: two passes over the pairs of the seed. `mua sft` leaves out the rejected answers.
learned() {
  local name=$1-$2-$3
  step "$1" "$out/$name" --model $start --data "$out/pairs-$2.jsonl" --seed "$2" --set train_batch_size=16 \
    --set lr_scheduler_type=linear --set "lr=$3"
  evaluated "$out/$name" "$out/on-$name" "$2"
}

for seed in $tuned $seeds; do
  file=$out/rows-$seed.jsonl
  [ -e "$file" ] || ./mua synthesize --domain rooms --level nano --demonstrator careful --near-miss 1 --count 500 --seed "$seed" --out "$file" \
    $([ ! -e "$file.unfinished" ] || echo --resume)
  [ -e "$out/all-$seed.jsonl" ] || ./mua convert "$file" --format preference --out "$out/all-$seed.jsonl"
  [ "$(wc -l <"$out/all-$seed.jsonl")" -ge $pairs ] || { echo "$out/all-$seed.jsonl has too few rows: expected $pairs" >&2; exit 1; }
  head -n $pairs "$out/all-$seed.jsonl" >"$out/pairs-$seed.jsonl"
done

for arm in dpo sft; do
  for rate in ${rates[$arm]}; do learned $arm $tuned "$rate"; done
done

# best ARM: the rate with the highest pass^1 of the seed for choosing; the smaller one if two are equal.
best() {
  node -e 'const { readFileSync } = require("node:fs");
    const pass = (folder) => JSON.parse(readFileSync(`${folder}/result.json`, "utf8")).pass_hat[0].value;
    const [prefix, ...rates] = process.argv.slice(1);
    console.log(rates.reduce((best, rate) => (pass(prefix + rate) > pass(prefix + best) ? rate : best)));' "$out/on-$1-$tuned-" ${rates[$1]}
}
dpo=$(best dpo) sft=$(best sft)
echo "learning rates: dpo $dpo, sft $sft" >&2

for seed in $seeds; do
  evaluated $start "$out/on-start-$seed" "$seed"
  learned dpo "$seed" "$dpo"
  learned sft "$seed" "$sft"
done
npx tsx scripts/dpo-results.mts --results "$out" --tuned $tuned
npm run docs
