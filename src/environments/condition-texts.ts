/** @file The texts that describe personas and faults of tools. The page and the documents use them. */
import type { Persona, ToolFaults } from '../records/conditions.ts';

export const PERSONA_LABELS: Record<Persona, string> = {
  upfront: 'upfront',
  on_request: 'withholding',
  changes_mind: 'changes mind',
  pushy: 'pushy',
  impossible: 'impossible wish',
  confused: 'confused',
  reserved: 'reserved',
};

export const PERSONA_MEANINGS: Record<Persona, string> = {
  upfront: 'says who they are and everything they want in the first message',
  on_request: 'gives a fact only when the agent asks for it',
  changes_mind: 'wants something else when the agent asks for a yes or reports the change',
  pushy: 'insists on a forbidden wish before accepting a no',
  impossible: 'wants only what the policy or the database forbids',
  confused: 'first gives a wrong detail',
  reserved: 'has a second wish and tells it only when the agent asks for more',
};

export const TOOL_FAULTS: readonly { fault: keyof ToolFaults; label: string; meaning: string }[] = [
  { fault: 'outages', label: 'tool outages', meaning: 'share of tool calls that fail with “try again”' },
  { fault: 'stale_reads', label: 'stale reads', meaning: 'share of reads that show the rows as they were when the conversation began' },
  {
    fault: 'timeouts',
    label: 'timeouts',
    meaning: 'share of every second tool call that is answered by a timeout; half of these calls are carried out all the same',
  },
];
