// Chance that comes again: everything follows from a seed.

export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** A number from 0 up to 1 (mulberry32). */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(n) {
    return Math.floor(this.next() * n);
  }

  between(low, high) {
    return low + this.below(high - low + 1);
  }

  often(chance = 0.5) {
    return this.next() < chance;
  }

  one(list) {
    return list[this.below(list.length)];
  }

  letters(n, alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') {
    return Array.from({ length: n }, () => alphabet[this.below(alphabet.length)]).join('');
  }

  /** Words that parsers stumble over. */
  text(most = 12) {
    const words = [
      'Oslo', 'the', 'weather', 'is', ' ', '\n', '\n\n', '\t', '\r\n', '"quoted"', "it's", 'a\\b', '\\n', '{', '}', '{"a":1}', '[DONE]', 'data: x',
      'event: error', ': comment', '</tool_call>', 'Zürich', 'Ångström', 'naïve', '日本語', 'мир', 'שלום', 'مرحبا', '👍', '👩‍👩‍👧‍👦', '🇳🇴', 'e\u0301',
      '\u2028', '\u2029', '\u00a0', '\u200b', '\ufeff', '\u0000', '\u001b[0m', '\u007f', '\u0085', '𝕏', '\ufffd', 'null', 'undefined', '0', '-1e9', '%20', '&amp;', '```json',
    ];
    return Array.from({ length: this.between(1, most) }, () => this.one(words)).join(this.one(['', ' ', ' ']));
  }

  json(depth = 0) {
    const kinds = depth > 2 ? 5 : 7;
    switch (this.below(kinds)) {
      case 0: return this.text(4);
      case 1: return this.between(-1e6, 1e6);
      case 2: return this.often();
      case 3: return null;
      case 4: return Number((this.next() * 1000).toFixed(3));
      case 5: return Array.from({ length: this.below(4) }, () => this.json(depth + 1));
      default: return this.object(depth + 1);
    }
  }

  object(depth = 0) {
    const entries = Array.from({ length: this.below(4) }, () => [this.often(0.8) ? this.letters(this.between(1, 8)) : `k${this.text(2)}`, this.json(depth)]);
    return Object.fromEntries(entries);
  }

  /** Cuts a text into pieces, never inside of a character. */
  pieces(text, most = 6) {
    const letters = [...text];
    const cuts = Array.from({ length: this.below(most) }, () => this.below(letters.length + 1)).sort((a, b) => a - b);
    return [...cuts, letters.length].map((cut, at) => letters.slice(cuts[at - 1] ?? 0, cut).join(''));
  }

  /** JSON as one of the ways in which servers write it. */
  written(value) {
    const text = this.often(0.3) ? spaced(value) : JSON.stringify(value);
    return this.often(0.3) ? ascii(text) : text;
  }
}

const ascii = (text) => text.replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

// As Python writes it.
function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (value && typeof value === 'object') {
    return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}
