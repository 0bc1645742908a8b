/** @file Compares calls of ACEBench. */
import { equal } from '../../python/values.ts';
import type { ToolCall } from '../../records/task.ts';
import { argumentsOf } from '../multiturn/tool-call.ts';

/** Whether two calls have the same function and arguments that Python finds equal. */
export const sameCall = (a: ToolCall, b: ToolCall): boolean => a.name === b.name && equal(argumentsOf(a), argumentsOf(b));
