/** @file The domain of a scenario, with or without a host. */
import type { SessionDomain, TableDomain } from '../../environments/domain.ts';
import type { ReadScenario } from '../read.ts';
import { tableDomain } from '../table-domain.ts';
import { isHosted } from './state.ts';

/** The code for servers is loaded only if the scenario has one. */
export const worldOf = async (own: ReadScenario): Promise<TableDomain | SessionDomain> =>
  isHosted(own) ? (await import('./hosted-domain.ts')).hostedDomain(own) : tableDomain(own);
