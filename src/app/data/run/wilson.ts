/** @file Wilson's interval, for the charts. */
export { wilson } from '../../../base/wilson.ts';
