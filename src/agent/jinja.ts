/** @file The library that renders chat templates, in a file of its own: a visit without a foreign model does not load it. */
export { BoundedTemplate as Template } from './render-template.ts';
