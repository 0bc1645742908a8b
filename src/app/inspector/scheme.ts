/** @file Tells those who draw on a canvas that light has become dark. */
import { createSubscriber } from 'svelte/reactivity';

/** Read in an effect: it runs again when the colours change. */
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
