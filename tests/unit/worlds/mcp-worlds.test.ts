/** Worlds as MCP servers inside the tab. */
import { expect, test } from 'vitest';
import { connect } from '../../../src/mcp/index.ts';
import { isRead } from '../../../src/mcp/reads.ts';
import type { McpConnection } from '../../../src/mcp/types.ts';
import { offerWorlds } from '../../../src/worlds/mcp-worlds.ts';

/** The first loans of a member, with what they say. */
async function loans({ call }: McpConnection) {
  for (let i = 0; ; i++) {
    const { text } = await call('get_loans', { member: `member_${i}` });
    const loan = /loan_\d+/.exec(text)?.[0];
    if (loan) return { loan, text };
    expect(i).toBeLessThan(1000);
  }
}

test('a world keeps what a call changed, drops what a failed call wrote, and begins anew with each connection', async () => {
  const offered = await offerWorlds();
  expect(offered).toContainEqual({ server: 'library-nano', title: 'Library, nano' });
  expect(offered).toContainEqual({ server: 'memory', title: 'server-memory of the MCP project' });
  expect(offered).toContainEqual({ server: 'retail-full', title: 'Retail, full' });
  const target = { kind: 'here', server: 'library-nano' } as const;
  const first = await connect(target);
  const read = (name: string) => isRead(first.server.tools.find((tool) => tool.name === name)!);
  expect([read('get_loans'), read('renew_loan')]).toEqual([true, false]);
  const { loan, text } = await loans(first);
  expect(await first.call('renew_loan', { loan: 'nope' })).toMatchObject({ error: true });
  expect((await loans(first)).text).toBe(text);
  expect(await first.call('renew_loan', { loan })).toMatchObject({ error: false });
  expect((await loans(first)).text).not.toBe(text);
  const second = await connect(target);
  expect((await loans(second)).text).toBe(text);
  await Promise.all([first.close(), second.close()]);
});
