/** The worker that checks models gives a reason for each refusal, and a check that hangs is ended. */
import { expect, test } from 'vitest';
import { checkedModel } from '../../src/app/library/checked-model.ts';
import { inModelsWorker } from '../../src/app/clients/models-worker.ts';

const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));

test('a fault of a model arrives with the name of its file', async () => {
  await expect(checkedModel('mine', { 'config.json': json({ model_type: 'bert' }) })).rejects.toThrow(/model_type is "bert"/);
  await expect(checkedModel('mine', { 'config.json': json([]) })).rejects.toThrow(/config\.json/);
});

test('work that takes too long is ended', async () => {
  await expect(inModelsWorker('the check of the model', () => new Promise(() => {}), { limitMs: 100 })).rejects.toThrow(
    'the check of the model took longer than 0.1 s and was ended',
  );
});
