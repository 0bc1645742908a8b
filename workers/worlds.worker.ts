/** @file The worlds worker: reads domains, tables and tasks for the page, and imports benchmarks. */
import * as comlink from 'comlink';
import { WorldBrowser } from '../src/app/worlds/browser.ts';
import { BenchmarkDatabase } from '../src/storage/benchmarks.ts';

comlink.expose(new WorldBrowser(new BenchmarkDatabase()));
