/** @file Makes memorable run names from the seed and the time. */
import { hash32 } from '../base/random.ts';

const ADJECTIVES =
  'amber brave brisk calm clever cosy daring eager fair fleet gentle glad golden happy keen kind lively lucky merry mild nimble noble patient proud quick quiet ready silver steady sunny swift tidy warm wise witty zesty'.split(
    ' ',
  );
const ANIMALS =
  'badger beaver crane deer dove falcon ferret finch fox gecko hare hawk heron ibis jay koala lark lemur lynx marten mole otter owl panda puffin quail raven robin seal shrew stork swan tapir tern vole wren'.split(
    ' ',
  );

export function runName(seed: number, time: number): string {
  const h = hash32(seed, time / 1000, time % 1000);
  return `${ADJECTIVES[h % ADJECTIVES.length]}-${ANIMALS[(h >>> 8) % ANIMALS.length]}`;
}
