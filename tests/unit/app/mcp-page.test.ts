/** The state of the page of MCP servers. The worker is replaced. */
import { expect, test, vi } from 'vitest';
import { page } from '../../../src/app/mcp/page.svelte.ts';

let connected: (answer: unknown) => void = () => {};
const desk = { connect: () => new Promise((resolve) => (connected = resolve)), heard: () => Promise.resolve([]) };
vi.mock('../../../src/app/clients/mcp-client.ts', () => ({
  askMcp: (question: (desk: unknown) => Promise<unknown>) => question(desk),
}));

test('the place is that of the connected server, also if the visitor changes the address meanwhile', async () => {
  page.address = 'https://first.example/mcp?key=secret';
  const work = page.connect();
  page.address = 'https://second.example/other';
  connected({ value: { name: 'first', tools: [] } });
  await work;
  expect(page.where).toBe('https://first.example/mcp');
});
