#!/usr/bin/env bash
# What each bundled model can do on each domain: generated tasks of retail and telecom, and one task of each benchmark, which says whether
# the benchmark's prompt fits the model.
#
#     scripts/matrix.sh [DIR]            default: matrix
#
# MUA_DATA is a folder with your copies of tau2-bench, bfcl and acebench. Without it, those cells are “not run”.
# The same command continues after an interruption: finished cells are kept. At the end, `docs/results/matrix.json` is written.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-matrix}
tasks=100
mkdir -p "$out"

# cell MODEL PLACE [FLAG…]: evaluates a model, or does nothing if it is done.
cell() {
  local model=$1 folder=$out/$1/$2
  shift 2
  if [ -e "$folder/result.json" ]; then return; fi
  echo "== $folder" >&2
  if [ -e "$folder/status.json" ]; then ./mua evaluate --resume "$folder"; else
    ./mua evaluate --model "models/$model" "$@" --seed 60 --out "$folder"
  fi
}

for model in glimpse-retail nano-retail nano-retail-grpo small-retail; do
  level=${model%%-*}
  for domain in retail telecom; do
    cell "$model" "$domain" --domain "$domain" --level "$level" --tasks $tasks
  done
  if [ -z "${MUA_DATA:-}" ]; then
    echo "MUA_DATA is not set: the cells of tau2-bench, BFCL and ACEBench of $model are not run" >&2
    continue
  fi
  probe='--tasks 1 --set response_length_one_turn=8'
  for domain in retail airline telecom; do
    cell "$model" "tau2-$domain" --rules tau2 --data "$MUA_DATA/tau2-bench" --domain "$domain" $probe
  done
  cell "$model" bfcl --rules bfcl --data "$MUA_DATA/bfcl" $probe
  cell "$model" acebench --rules acebench --data "$MUA_DATA/acebench" $probe
done

npx tsx scripts/matrix-results.mts --results "$out"
npm run docs
