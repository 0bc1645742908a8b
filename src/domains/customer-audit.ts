/** @file Audits the customer of a conversation, in the language of the task's domain. */
import type { Trajectory } from '../records/trajectory.ts';
import { auditCustomer, type CustomerAudit } from '../users/audit.ts';
import { languageOf } from './languages.ts';

export const auditOf = (trajectory: Trajectory): CustomerAudit =>
  auditCustomer(trajectory, trajectory.task, languageOf(trajectory.task.domain));
