/** @file Makes the visitor's own scenarios domains of the page. */
import { OwnScenarios } from '../../storage/own-scenarios.ts';

const own = new OwnScenarios();

/** Reads the stored scenarios again. If the storage cannot be read, the page has none: what needs the storage says so. */
export const learnScenarios = (): Promise<void> => own.learn().catch(() => {});
