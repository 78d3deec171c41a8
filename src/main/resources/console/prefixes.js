// The prefixes of an analysis as a tree. A name has one character per byte, because keys need not be UTF-8.

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Characters that are invisible or change the direction of text, and unusual blanks. */
const HIDDEN = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/u;
const BLANKS = /^ | $| {2}/;
const ESCAPES = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The bytes of a text, one character per byte. */
export function bytesOf(text) {
	let bytes = '';
	for (const byte of encoder.encode(text)) {
		bytes += String.fromCharCode(byte);
	}
	return bytes;
}

/** The text of a name; undefined if it is not UTF-8. */
export function textOf(name) {
	try {
		return decoder.decode(Uint8Array.from(name, (byte) => byte.charCodeAt(0)));
	} catch {
		return undefined;
	}
}

/** The name of a key or prefix in a report. */
export function nameOf(reported) {
	return (typeof reported === 'object') ? atob(reported.base64) : bytesOf(reported);
}

/** A readable name: in quotes and with escapes if it has hidden characters. */
export function displayName(name) {
	const text = textOf(name);
	if (text === undefined) {
		return `"${name.replace(/["\\]/g, '\\$&').replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
	}
	if (!HIDDEN.test(text) && !BLANKS.test(text)) return text;
	return `"${text.replace(/["\\]/g, '\\$&').replace(new RegExp(HIDDEN, 'gu'), (c) => ESCAPES[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`)}"`;
}

/** A text of at most so many characters. */
export function truncate(text, max) {
	return (text.length <= max) ? text : `${text.substring(0, max - 1).toWellFormed().replace(/\uFFFD$/, '')}…`;
}

/** The pattern that matches exactly the keys with this prefix; undefined if there is none. */
export function patternOf(name) {
	const text = textOf(name);
	return (text === undefined) ? undefined : `${text.replace(/[*?[\\]/g, '\\$&')}*`;
}

/** The prefix of a pattern that is only a prefix and a star; otherwise undefined. */
export function literalPrefixOf(pattern) {
	return /^((?:[^*?[\\]|\\[^])*)\*+$/u.exec(pattern)?.[1].replace(/\\([^])/gu, '$1');
}

/** The parts of a name that end at each of its separators. */
export function levelsOf(name, separator) {
	const levels = [];
	for (let end = name.indexOf(separator); end >= 0; end = name.indexOf(separator, end)) {
		end += separator.length;
		levels.push(name.substring(0, end));
	}
	return levels;
}

/** The prefix that all prefixes of an analysis share because of its pattern. */
export function commonPrefixOf({ match = '', separator, depth }) {
	return levelsOf(bytesOf(literalPrefixOf(match) ?? ''), separator).slice(0, depth - 1).at(-1) ?? '';
}

class PrefixNode {
	keys = 0;
	bytes = 0;
	withoutTtl = 0;
	types = new Map();
	partial = false;
	children = [];

	constructor(name, label) {
		Object.assign(this, { name, label });
	}

	add({ keys, bytes = 0, withoutTtl, types, partial = false }) {
		this.keys += keys;
		this.bytes += bytes;
		this.withoutTtl += withoutTtl;
		this.partial ||= partial;
		for (const [type, number] of Object.entries(types)) {
			this.types.set(type, (this.types.get(type) ?? 0) + number);
		}
		return this;
	}
}

/** A tree of prefixes. Its root is the prefix that all of them share. */
export class PrefixTree {
	/**
	 * @param settings the separator as a name, the depth and the pattern of the analysis. If the depth is unknown,
	 * the tree has one level.
	 */
	constructor(report, settings) {
		/** Whether the keys with too few separators have several levels and prefixes. */
		this.mixesLevels = false;
		const { separator, depth } = settings;
		this.root = new PrefixNode(commonPrefixOf(settings));
		this.nodes = new Map([[this.root.name, this.root]]);
		const below = levelsOf(this.root.name, separator).length;
		for (const row of report.prefixes) {
			this.root.add({ ...row, partial: false });
			if (row.prefix === '(other)') {
				this.root.children.push(new PrefixNode(undefined, 'smaller prefixes together').add(row));
				continue;
			}
			if (row.prefix === '(none)') {
				this.mixesLevels = depth - below > 1;
				this.root.children.push(new PrefixNode(undefined, !depth ? 'too few separators' : this.mixesLevels ? `fewer than ${depth} separators` : below ? 'no further prefix' : 'no prefix').add(row));
				continue;
			}
			const name = nameOf(row.prefix);
			const levels = depth ? levelsOf(name, separator).slice(0, depth) : [];
			let parent = this.root;
			for (const level of (levels.at(-1) === name && name.startsWith(this.root.name)) ? levels.slice(below) : [name]) {
				parent = this.child(parent, level).add(row);
			}
		}
	}

	child(parent, name) {
		let child = this.nodes.get(name);
		if (!child) {
			child = new PrefixNode(name);
			this.nodes.set(name, child);
			parent.children.push(child);
		}
		return child;
	}

	/** The node of a prefix, or the root if the prefix is unknown. */
	nodeAt(name) {
		return this.nodes.get(name) ?? this.root;
	}
}
