/** @file The form of grades in files, which come from strangers too. */
import { z } from 'zod';
import { NEAR_MISSES } from '../records/scenario.ts';
import { CRITERIA, type CriterionGrade, type Grades, type JudgeGrade, type RuleGrade, RULES } from '../records/grades.ts';
import { LONGEST_TEXT } from './rule-grade.ts';

const text = z.string().max(LONGEST_TEXT);
const place = z.int().min(0);
const rule: z.ZodType<RuleGrade> = z.object({
  ok: z.boolean().nullable(),
  why: text.optional(),
  message: place.optional(),
  found: z.array(text).optional(),
}) as z.ZodType<RuleGrade>;
const criterion = z.object({
  met: z.boolean().nullable(),
  message: place.optional(),
  quote: text.optional(),
  why: text.optional(),
}) as z.ZodType<CriterionGrade>;
const judge = z.object({
  model: text,
  prompt: text,
  seed: place,
  votes: place,
  criteria: z.record(z.enum(CRITERIA), criterion),
  keep: z.boolean().nullable(),
  tokens: z.object({ prompt: place, completion: place }).optional(),
}) as z.ZodType<JudgeGrade>;

export const nearMissSchema = z.object({ kind: z.enum(NEAR_MISSES), first_wrong: place, of: text });

export const gradesSchema = z.object({
  rules: z.record(z.enum(RULES), rule),
  judge: judge.optional(),
  addressed: z.object({ message: place.nullable(), text }).optional(),
}) as z.ZodType<Grades>;
