/** @file Searching texts for words. */

/** Whether a text holds every word of the query, whatever the case. No words: every text does. */
export function wordSearch(query: string): (text: string) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}
