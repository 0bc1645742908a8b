/** @file Follows the page's colour scheme, for components that draw on a canvas. */
import { createSubscriber } from 'svelte/reactivity';

/** An effect that calls this function runs again when the page becomes light or dark. */
export const followScheme = createSubscriber((update) => {
  const observer = new MutationObserver(update);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const query = matchMedia('(prefers-color-scheme: dark)');
  query.addEventListener('change', update);
  return () => {
    observer.disconnect();
    query.removeEventListener('change', update);
  };
});
