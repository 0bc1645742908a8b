/** @file Finds the texts that contain given words. */

/** Returns a function that says whether a text contains every word of the query, ignoring case. An empty query matches every text. */
export function wordSearch(query: string): (text: string) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  };
}
