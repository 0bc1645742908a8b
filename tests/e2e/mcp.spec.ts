/** The page of MCP servers, with a server of the official SDK over HTTP, and with a world inside the tab. */
import { expect, type Page } from '@playwright/test';
import { ALL_HEADERS, HEADERS_2025, startNotes } from '../support/mcp-notes.ts';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

async function connect(page: Page, url: string): Promise<void> {
  await page.getByRole('textbox', { name: /^Address/ }).fill(url);
  await page.getByRole('button', { name: /^Connect/ }).click();
}

test('connect, fill a form, see what a call changes, and stop when the tools change', async ({ page }) => {
  const server = await startNotes(ALL_HEADERS);
  const problems = watch(page);
  page.setDefaultTimeout(20_000);
  try {
    await page.goto('/#/worlds');
    await page.getByRole('link', { name: 'MCP servers' }).click();
    await page.getByText('Key and headers').click();
    await page.getByRole('textbox', { name: /^Address/ }).fill(server.url);
    await page.getByLabel('Value 1').fill('Bearer sk-very-secret-4711');
    // Another server does not get the key.
    await page.getByRole('textbox', { name: /^Address/ }).fill('https://other.example/mcp');
    await expect(page.getByLabel('Value 1')).toHaveValue('');
    await connect(page, server.url);
    const facts = page.getByRole('region', { name: 'notes 1.2' });
    await expect(facts).toContainText('2026-07-28, without sessions');
    expect(server.requests.find(({ method }) => method === 'POST')?.authorization).toBe('Bearer sk-very-secret-4711');

    // The form: text, choice, whole number, list; hidden characters are visible.
    const tools = page.getByRole('navigation', { name: 'Tools' });
    await tools.getByRole('button', { name: /^add_note may write, 1 warning|^add_note may write/ }).click();
    await expect(page.getByRole('heading', { level: 2, name: 'add_note' })).toBeFocused();
    await expect(page.getByText('Adds a note.\\u200b It is kept')).toBeVisible();
    await expect(page.getByText(/Warning: hidden or control characters: description \(U\+200B\)/)).toBeVisible();
    const form = page.getByRole('form', { name: 'Arguments of add_note' });
    await form.getByLabel('copies (optional)').fill('two');
    await form.getByRole('button', { name: 'Call', exact: true }).click();
    await expect(form.getByLabel('text', { exact: true })).toBeFocused();
    await expect(form.getByText('“two” is not a whole number.')).toBeVisible();
    await form.getByLabel('copies (optional)').fill('2');
    await form.getByLabel('text', { exact: true }).fill('Buy\n milk ');
    await form.getByLabel('priority (optional)').selectOption('high');

    // The first call of a tool that may write is shown before it is sent.
    await page.getByRole('checkbox', { name: /^list_notes/ }).check();
    await form.getByRole('button', { name: 'Call', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Send the first call of add_note?' });
    await expect(dialog).toContainText('"copies": 2');
    await inspect(page, 'mcp-question', { fullPage: false });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(server.notes).toEqual([]);
    await form.getByRole('button', { name: 'Call', exact: true }).click();
    await dialog.getByRole('button', { name: 'Send it' }).click();
    await expect(page.locator('[data-part=result]')).toContainText('There are 2 notes.');
    expect(server.notes).toEqual(['Buy\n milk ', 'Buy\n milk ']);
    const changed = page.locator('[data-part=changes]');
    await expect(changed).toContainText('It shows a difference.');
    await expect(changed.getByText('added: "Buy\\n milk "')).toHaveCount(2);
    await inspect(page, 'mcp-called');

    // Arguments that the schema refuses are not sent.
    await form.getByLabel('Write the arguments as JSON').check();
    await form.getByLabel('Arguments as a JSON object').fill('{"text": "a", "priority": "urgent"}');
    await form.getByRole('button', { name: 'Call', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText('Nothing was sent. add_note: priority is "urgent"');

    // A slow call can be stopped.
    await tools.getByRole('button', { name: /^think/ }).click();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect(page.getByRole('alert')).toContainText('Stopped.');

    // The key is in no message of the history.
    await page.getByText(/^Messages/).click();
    await page
      .getByText(/→ sent at .*tools\/call/)
      .first()
      .click();
    await expect(page.getByText('"method":"tools/call"').first()).toBeVisible();
    expect(await page.content()).not.toContain('sk-very-secret');

    server.describe('Adds a note, and sends it to everyone.');
    await tools.getByRole('button', { name: /^add_note/ }).click();
    await page.getByRole('form').getByLabel('text', { exact: true }).fill('Secret');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText('The tools have changed.');
    await expect(page.getByRole('region', { name: 'Change of add_note' })).toContainText('added: Adds a note, and sends it to everyone.');
    await expect(page.getByRole('button', { name: 'Call', exact: true })).toBeDisabled();
    expect(server.notes).toHaveLength(2);
    await inspect(page, 'mcp-changed');
    await page.getByRole('button', { name: 'Connect again' }).click();
    await expect(page.getByRole('alert')).toHaveCount(0);
    expect(problems).toEqual([]);
  } finally {
    await server.close();
  }
});

test('a server without CORS and one that knows only older headers: a sentence for each; a world inside the tab', async ({ page }) => {
  const [closed, older] = await Promise.all([startNotes(null), startNotes(HEADERS_2025)]);
  page.setDefaultTimeout(20_000);
  try {
    await page.goto('/#/mcp');
    await connect(page, closed.url);
    const origin = new URL(page.url()).origin;
    await expect(page.getByRole('alert')).toContainText(
      `A server answers at ${new URL(closed.url).origin}, but it does not let this page read the answer (CORS). It sends no Access-Control-Allow-Origin for this page. Expected with each answer, also with those to OPTIONS: Access-Control-Allow-Origin: ${origin};`,
    );
    await connect(page, older.url);
    await expect(page.getByRole('region', { name: 'notes 1.2' })).toContainText('2025-11-25, with sessions');
    await expect(page.getByText('it must also list mcp-method and mcp-name in Access-Control-Allow-Headers')).toBeVisible();

    await page.getByText('Key and headers').click();
    await page.getByLabel('Value 1').fill('Bearer sk-4711-4711');
    await page.getByRole('button', { name: /^Connect/ }).click();
    await expect(page.getByRole('alert')).toContainText('It allows this page, but not the header authorization: add it to');

    const problems = watch(page);
    await page.getByLabel('In this tab', { exact: true }).check();
    await page.getByLabel('Server in the tab').selectOption({ label: 'Meeting rooms, small' });
    await page.getByRole('button', { name: /^Connect/ }).click();
    await expect(page.getByRole('region', { name: /^rooms-/ })).toBeVisible();
    await expect(page.getByRole('navigation', { name: 'Tools' }).getByText('may write').first()).toBeVisible();

    // The server of others starts empty, and says which of its tools only read.
    await page.getByLabel('Server in the tab').selectOption({ label: 'server-memory of the MCP project' });
    await page.getByRole('button', { name: /^Connect/ }).click();
    await page
      .getByRole('navigation', { name: 'Tools' })
      .getByRole('button', { name: /^read_graph/ })
      .click();
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await expect(page.locator('[data-part=result]')).toContainText('"entities": []');

    // WebAssembly of SQLite runs in the worker.
    await page.getByLabel('Server in the tab').selectOption({ label: 'SQLite, in the package sql.js' });
    await page.getByRole('button', { name: /^Connect/ }).click();
    await page
      .getByRole('navigation', { name: 'Tools' })
      .getByRole('button', { name: /^describe_table/ })
      .click();
    await page.getByLabel(/^table_name/).fill('sqlite_boats');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await expect(page.locator('[data-part=result]')).toContainText('no such table: sqlite_boats');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await expect(page.getByRole('navigation', { name: 'Tools' })).toHaveCount(0);
    expect(problems).toEqual([]);
  } finally {
    await Promise.all([closed.close(), older.close()]);
  }
});
