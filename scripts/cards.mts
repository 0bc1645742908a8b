/**
 * Makes the scorecards of the bundled models, and of the guard, for docs/results/cards.md. Evaluations that the folder already holds are
 * not played again. Usage: npm run cards -- FOLDER
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CARD_FOLDER, CARDS } from './card-table.ts';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('FOLDER is missing: expected npm run cards -- FOLDER');
mkdirSync(folder, { recursive: true });
const mua = (...args: string[]) => execFileSync('./mua', args, { stdio: 'inherit' });

for (const [name, { model, flags }] of Object.entries(CARDS)) {
  const out = join(folder, name);
  const played = ['--tasks', '64', '--trials', '4', ...flags];
  if (!existsSync(join(out, 'result.json')))
    mua('evaluate', '--model', join('models', model), ...played, '--out', out, ...(existsSync(out) ? ['--force'] : []));
  mua('report', out, '--card', `${CARD_FOLDER}/${name}.json`);
}
