/**
 * Measures which task and which first sentence show best what the recorded training changed: “Talk to it” on the home page opens with
 * them. The model before and the model after GRPO answer each sentence 16 times at temperature 1, as the page asks them to. Prints a line
 * for each sentence, the largest gap first: how often each model asked before it wrote.
 * Usage: npx tsx scripts/measure-first-play.mts [TASKS]   (the first 16 held-out tasks by default)
 */
import '../src/trainer/node/indexed-db.ts';
import { replyOf } from '../src/app/play/answers.ts';
import { requestOf } from '../src/app/branches/play-request.ts';
import { BEFORE_AND_AFTER } from '../src/app/library/first-play.ts';
import { customerScripts, GENERATED_DOMAINS } from '../src/domains/registry.ts';
import { createEnvironments } from '../src/environments/index.ts';
import { dawn } from '../src/trainer/node/dawn.ts';
import { nodeSession } from '../src/trainer/node/session.ts';
import { prepareLavapipe } from '../src/trainer/node/lavapipe.ts';
import { limitsFor } from '../src/training/presets.ts';

const SAMPLES = 16;
const count = Number(process.argv[2] ?? 16);
if (!Number.isInteger(count) || count < 1) throw new Error(`TASKS is "${process.argv[2]}": expected a whole number from 1`);
prepareLavapipe();

const config = limitsFor('retail', 'nano');
const environments = createEnvironments({ domains: GENERATED_DOMAINS });
const tasks = await environments.tasks({ domain: 'retail', level: 'nano', split: 'heldout', seed: 1, count });
const session = nodeSession({ gpu: dawn() });
const found: { task: string; sentence: string; asked: number[] }[] = [];
for (const task of tasks) {
  // Only a customer who changes their mind shows what asking is good for.
  if (!task.scenario.wishes.some((wish) => 'insteadOf' in wish && wish.insteadOf)) continue;
  const { suggestions } = await customerScripts(task.domain, false);
  const [sentence] = suggestions!(task);
  const asked: number[] = [];
  for (const name of BEFORE_AND_AFTER) {
    const request = requestOf({ task, config, start: null }, { model: { kind: 'model', name }, simulator: { mode: 'scripted' } }, null, 0);
    const played = await session.play({ ...request, user: { say: sentence! }, n: SAMPLES }, () => {});
    asked.push(played.filter(({ nodes }) => replyOf(nodes) === 'asked').length);
  }
  found.push({ task: task.id, sentence: sentence!, asked });
  console.error(task.id, asked.join(' → '), sentence);
}
const gap = ({ asked: [before, after] }: (typeof found)[number]) => after! - before!;
for (const one of found.sort((a, b) => gap(b) - gap(a)))
  console.log(`${one.task}: asked first ${one.asked[0]} → ${one.asked[1]} of ${SAMPLES}: ${one.sentence}`);
process.exit(0);
