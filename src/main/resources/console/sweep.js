// The actions on the keys of a prefix: count them, then delete them or let them expire.

import { curl, curlLines, shell } from './curl.js';
import { isActive } from './jobwords.js';
import { announce, attempt, count, field, h, inputOf, notice, query, timestamp } from './page.js';
import { bytesOf, displayName, patternOf, textOf } from './prefixes.js';
import { ASYNC, Problem, call, follow, json } from './service.js';
import { fetchSettings } from './tab.js';

/** The types that a sweep can select. */
const TYPES = ['string', 'list', 'set', 'zset', 'hash', 'stream'];
const ACTIONS = {
	UNLINK: { title: 'Delete', done: 'This deletes them permanently (UNLINK).' },
	EXPIRE: { title: 'Expire', done: 'They expire after the time below, even if they have another expiry (EXPIRE).' },
};

/** The settings of a sweep, each with its label, its properties and its hint. */
const FIELDS = [
	['ttl', 'Expires after', { required: true, value: '1d' }, 'seconds, or 90s, 12h, 7d'],
	['ttlJitter', 'Spread of expiry in percent', { placeholder: '0' }],
	['rateLimit', 'Keys per second at most', { placeholder: 'no limit' }],
];

function matching(keys) {
	return `${count(keys, 'key')} ${keys === 1 ? 'matches' : 'match'}`;
}

/** Why no sweep can match just the keys of a prefix; undefined if one can. */
function obstacleOf(name, type) {
	if (patternOf(name) === undefined) {
		return 'Its name is not UTF-8, so no pattern matches only its keys. Count, delete or expire them with a Redis client.';
	}
	if (type && !TYPES.includes(type)) {
		return `The analysis covers only keys of type ${type}, which a sweep cannot select. Analyse all types.`;
	}
	return undefined;
}

/**
 * The actions for a prefix.
 * @param type the type of its keys, if the analysis selected one
 * @param onStart is called with each job that was started
 */
export function sweep(name, type, page, onStart) {
	const obstacle = obstacleOf(name, type);
	return obstacle ? h('p', { class: 'hint' }, obstacle) : new Sweep(name, type, page, onStart).element;
}

class Sweep {
	errors = notice();
	result = h('div', { id: 'counted' });
	countButton = h('button', { type: 'button', class: 'main', id: 'count', onclick: () => this.count() }, 'Count its keys');

	constructor(name, type, page, onStart) {
		Object.assign(this, { name, type, page, onStart, match: patternOf(name) });
		const line = (op, parameters) => shell(curl(this.path(op, parameters), { method: 'POST' }));
		this.element = h('div', {}, h('p', { class: 'actions' }, this.countButton, h('span', { class: 'hint' }, 'Counting changes nothing. After it, you can delete the keys or let them expire.')),
				this.errors, this.result, curlLines('Count', line('UNLINK', [['dryRun', 'true']]), 'Delete', line('UNLINK'), 'Expire', line('EXPIRE', [['ttl', '1d']])));
	}

	path(op, parameters = []) {
		return `v1/jobs?${query([['from', 'scan'], ['match', this.match], ...(this.type ? [['type', this.type]] : []), ['op', op], ...parameters])}`;
	}

	pattern() {
		return h('code', { class: 'name' }, displayName(bytesOf(this.match)));
	}

	/** Starts the dry run of an operation that this client may use. */
	async startDryRun() {
		const dryRun = (op) => json('POST', this.path(op, [...(op === 'EXPIRE' ? [['ttl', '1d']] : []), ['dryRun', 'true']]), ASYNC);
		try {
			return { job: await dryRun('UNLINK'), ops: ['UNLINK', 'EXPIRE'] };
		} catch (error) {
			if (!(error instanceof Problem) || error.status !== 403) throw error;
			const job = await dryRun('EXPIRE').catch(() => {
				throw error;
			});
			return { job, ops: ['EXPIRE'], refused: error.message };
		}
	}

	async count() {
		this.countButton.disabled = true;
		await attempt(this.errors, this.page, async () => this.showCount(await this.countKeys()), () => this.result.replaceChildren());
		this.countButton.disabled = false;
		// A disabled button loses the focus.
		if (document.activeElement === document.body) {
			this.countButton.focus();
		}
	}

	/** Counts the keys, and shows how many were found so far. */
	async countKeys() {
		const { page } = this;
		const { job: { jobId }, ops, refused } = await this.startDryRun();
		let isRunning = true;
		const cancel = () => isRunning && call('DELETE', `v1/jobs/${jobId}`).catch(() => {});
		page.addEventListener('abort', cancel);
		try {
			if (page.aborted) {
				cancel();
			}
			const words = h('span', {}, 'Counting…');
			this.result.replaceChildren(h('div', { class: 'sending' }, h('progress', { 'aria-label': 'Counting' }), words, h('button', { type: 'button', onclick: cancel }, 'Stop counting')));
			for await (const status of follow(jobId, page)) {
				words.textContent = `${count(status.counts?.received ?? 0, 'key')} so far`;
				isRunning = isActive(status.state);
			}
			const report = await json('GET', `v1/jobs/${jobId}`, { signal: page });
			if (report.state !== 'completed') throw new Problem(report.ending?.detail ?? 'The count did not finish.');
			return { ...report, ops, refused };
		} finally {
			page.removeEventListener('abort', cancel);
		}
	}

	showCount({ wouldRun: keys, redis, ops, refused }) {
		this.countButton.className = '';
		this.countButton.textContent = 'Count again';
		announce(`${count(keys, 'key')} counted`);
		if (keys === 0) {
			this.result.replaceChildren(h('p', { class: 'words' }, 'No key matches. The keys are gone, or they are the service’s own keys (pipeset:*).'));
			return;
		}
		const button = (op) => h('button', { type: 'button', class: op === 'UNLINK' ? 'danger' : '', id: op.toLowerCase(), onclick: () => this.openDialog(op, keys, redis) }, `${ACTIONS[op].title} them…`);
		this.result.replaceChildren(h('p', { class: 'words matches' }, `${matching(keys)} `, this.pattern(), ` (at ${timestamp(Date.now())})`), refused ? h('p', { class: 'hint' }, refused) : '',
				h('p', { class: 'actions' }, ops.map(button)));
	}

	async openDialog(op, keys, redis) {
		const rows = await fetchSettings();
		if (!this.page.aborted && !this.result.querySelector('dialog')) {
			new SweepDialog(this, op, keys, redis, rows).open();
		}
	}
}

/** A dialog that starts a sweep after the user typed the name of the prefix. */
class SweepDialog {
	inputs = {};
	typed = h('input', { spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', required: true, oninput: () => this.check() });
	errors = notice();
	line = shell('');

	constructor(part, op, keys, redis, rows) {
		Object.assign(this, { part, op, wanted: displayName(part.name) });
		const { title, done } = ACTIONS[op];
		const fields = FIELDS.filter(([setting]) => op === 'EXPIRE' || setting === 'rateLimit').map((row) => this.field(rows, ...row));
		const wanted = (kind) => h(kind, { class: 'name' }, this.wanted);
		this.go = h('button', { class: op === 'UNLINK' ? 'danger' : 'main', id: 'sweep', disabled: true }, `${title} ${count(keys, 'key')}`);
		const form = h('form', { onsubmit: (event) => this.send(event) },
				h('h2', { id: 'sweep-title' }, `${title} ${count(keys, 'key')} of `, wanted('span'), ` ${op === 'UNLINK' ? 'from' : 'in'} ${redis}?`),
				h('p', { class: 'matches' }, h('strong', {}, matching(keys)), ' ', part.pattern(), part.type ? ` and have type ${part.type}` : '', `. ${done} The sweep may include keys that are written while it runs.`),
				fields.length > 1 ? h('div', { class: 'fields' }, fields) : fields,
				field('sweep-name', ['Type ', wanted('code'), ' to confirm'], this.typed), this.errors,
				h('p', { class: 'actions' }, this.go, h('button', { type: 'button', onclick: () => this.element.close() }, 'Cancel')), curlLines(this.line));
		this.element = h('dialog', { class: 'sweep', 'aria-labelledby': 'sweep-title', onclose: () => this.element.remove() }, form);
	}

	field(rows, setting, label, properties, hint) {
		const input = this.inputs[setting] = inputOf(rows.find(({ name }) => name === setting));
		Object.assign(input, properties, { title: setting, oninput: () => this.check() });
		return field(`sweep-${setting}`, label, input, hint);
	}

	open() {
		this.check();
		this.part.result.append(this.element);
		this.element.showModal();
		this.typed.focus();
	}

	path() {
		return this.part.path(this.op, Object.entries(this.inputs).map(([setting, input]) => [setting, input.value]).filter(([, value]) => value));
	}

	check() {
		this.line.setText(curl(this.path(), { method: 'POST', ...ASYNC }));
		this.go.disabled = ![this.wanted, textOf(this.part.name)].some((name) => name.normalize() === this.typed.value.normalize());
	}

	async send(event) {
		event.preventDefault();
		this.check();
		if (this.go.disabled) return;
		this.go.disabled = true;
		const { part, op } = this;
		// The sweep runs even if the user leaves the page.
		await attempt(this.errors, {}, async () => {
			const { jobId } = await json('POST', this.path(), ASYNC);
			part.onStart({ op, match: part.match, jobId });
			this.element.close();
			if (!part.page.aborted) {
				location.hash = `#/jobs/${jobId}`;
			}
		}, () => this.go.disabled = false);
	}
}
