/** @file The worker of the page of MCP servers. It sends all requests, so that the answers of servers are read outside of the page. */
import '../src/base/content-policy.ts';
import * as comlink from 'comlink';
import { Desk } from '../src/mcp/desk.ts';
import { offerWorlds } from '../src/worlds/mcp-worlds.ts';

const desk = new Desk();
comlink.expose(Object.assign(desk, { offered: offerWorlds }));
