/** @file The worlds worker. It reads domains, tables and tasks for the page, and imports benchmarks and scenarios. */
import * as comlink from 'comlink';
import { WorldBrowser } from '../src/worlds/browser.ts';
import { BenchmarkDatabase } from '../src/benchmarks/import/database.ts';

comlink.expose(new WorldBrowser(new BenchmarkDatabase()));
