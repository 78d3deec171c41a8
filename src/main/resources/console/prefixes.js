// The prefixes of an analysis as a tree. A name is its bytes, a character each, as keys need not be UTF-8.

const encoder = new TextEncoder();

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Characters that one does not see, or that turn others around, and blanks that nobody would notice. */
const HIDDEN = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/u;

const BLANKS = /^ | $| {2}/;

const ESCAPES = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The bytes of a text, a character each. */
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
	}
	catch {
		return undefined;
	}
}

/** The name of a key or prefix as an answer has it. */
export function nameOf(answer) {
	return (typeof answer === 'object') ? atob(answer.base64) : bytesOf(answer);
}

/** A name as one reads it: in quotes, and with escapes, if a part of it would not show. */
export function shown(name) {
	const text = textOf(name);
	if (text === undefined) {
		return `"${name.replace(/["\\]/g, '\\$&').replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
	}
	if (!HIDDEN.test(text) && !BLANKS.test(text)) {
		return text;
	}
	return `"${text.replace(/["\\]/g, '\\$&').replace(new RegExp(HIDDEN, 'gu'), (c) => ESCAPES[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`)}"`;
}

/** A name that is no longer than a place for it. */
export function cut(text, most) {
	return (text.length <= most) ? text : `${text.substring(0, most - 1).toWellFormed().replace(/\uFFFD$/, '')}…`;
}

/** The pattern that all keys with this beginning match, and no others; undefined if none can say it. */
export function patternOf(name) {
	const text = textOf(name);
	return (text === undefined) ? undefined : `${text.replace(/[*?[\\]/g, '\\$&')}*`;
}

/** The beginning that a pattern asks for, if it asks for nothing else. */
export function beginningOf(pattern) {
	return /^((?:[^*?[\\]|\\[^])*)\*+$/u.exec(pattern)?.[1].replace(/\\([^])/gu, '$1');
}

/** A name up to each of its separators. */
export function levelsOf(name, separator) {
	const levels = [];
	for (let end = name.indexOf(separator); end >= 0; end = name.indexOf(separator, end)) {
		end += separator.length;
		levels.push(name.substring(0, end));
	}
	return levels;
}

/** The prefix that all prefixes of an analysis have in common, by its pattern. */
export function baseOf({ match = '', separator, depth }) {
	return levelsOf(bytesOf(beginningOf(match) ?? ''), separator).slice(0, depth - 1).at(-1) ?? '';
}

class Node {

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

/** A tree of prefixes: each of them by its name, and the root by which all of them begin. */
export class Prefixes {

	/**
	 * @param settings the separator as a name, the depth and the pattern of the analysis; without a depth, as nobody
	 * knows how it was asked for, there is but one level
	 */
	constructor(report, settings) {
		/** Whether keys of several levels, and of several prefixes, are counted as one. */
		this.mixed = false;
		const { separator, depth } = settings;
		this.root = new Node(baseOf(settings));
		this.nodes = new Map([[this.root.name, this.root]]);
		const below = levelsOf(this.root.name, separator).length;
		for (const row of report.prefixes) {
			this.root.add({ ...row, partial: false });
			if (row.prefix === '(other)') {
				this.root.children.push(new Node(undefined, 'smaller prefixes, added up').add(row));
				continue;
			}
			if (row.prefix === '(none)') {
				this.mixed = depth - below > 1;
				this.root.children.push(new Node(undefined, !depth ? 'too few separators' : this.mixed ? `fewer than ${depth} separators` : below ? 'no further prefix' : 'no prefix').add(row));
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
			child = new Node(name);
			this.nodes.set(name, child);
			parent.children.push(child);
		}
		return child;
	}

	/** The node of a prefix, or the root. */
	at(name) {
		return this.nodes.get(name) ?? this.root;
	}

}
