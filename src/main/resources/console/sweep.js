// What one does to the keys of a prefix: count them, and then delete them or let them expire.

import { isActive } from './job.js';
import { settings } from './load.js';
import { count, curl, field, h, inputOf, moment, notice, query, shell, tell } from './page.js';
import { bytesOf, patternOf, shown, textOf } from './prefixes.js';
import { Problem, address, call, follow, isKeyed, json } from './service.js';

/** The types of which a sweep may leave out all others. */
const TYPES = ['string', 'list', 'set', 'zset', 'hash', 'stream'];

const ACTIONS = {
	UNLINK: { title: 'Delete', done: 'They are deleted for good (UNLINK).' },
	EXPIRE: { title: 'Expire', done: 'They expire after the time below, also those that have another one (EXPIRE).' },
};

function matching(keys) {
	return `${count(keys, 'key')} ${keys === 1 ? 'matches' : 'match'}`;
}

/** Why no sweep can meet just the keys of a prefix. */
function obstacle(name, type) {
	if (patternOf(name) === undefined) {
		return 'Its name is not UTF-8, and no pattern can say it without meeting other keys: count, delete or expire its keys with a client of Redis.';
	}
	if (type && !TYPES.includes(type)) {
		return `The analysis has looked at keys of the type ${type} only, and a sweep cannot leave out all others: analyse all types first.`;
	}
	return undefined;
}

/**
 * The actions for a prefix.
 * @param type the type of its keys, if they are of one
 * @param begun is told of a job that was begun
 */
export function sweep(name, type, page, begun) {
	const why = obstacle(name, type);
	if (why) {
		return h('p', { class: 'hint' }, why);
	}
	const match = patternOf(name);
	const pattern = () => h('code', { class: 'name' }, shown(bytesOf(match)));
	const path = (op, parameters = []) => `v1/jobs?${query([['from', 'scan'], ['match', match], ...(type ? [['type', type]] : []), ['op', op], ...parameters])}`;
	const mistaken = notice();
	const result = h('div', { id: 'counted' });
	const first = h('button', { type: 'button', class: 'main', id: 'count', onclick: look }, 'Count its keys');

	/** Counts by the dry run of an operation that this client may use. */
	async function begin() {
		const dryRun = (op) => json('POST', path(op, [...(op === 'EXPIRE' ? [['ttl', '1d']] : []), ['dryRun', 'true']]), { headers: { Prefer: 'respond-async' } });
		try {
			return { job: await dryRun('UNLINK'), ops: ['UNLINK', 'EXPIRE'] };
		}
		catch (error) {
			if (!(error instanceof Problem) || error.status !== 403) {
				throw error;
			}
			try {
				return { job: await dryRun('EXPIRE'), ops: ['EXPIRE'], refused: error.message };
			}
			catch {
				throw error;
			}
		}
	}

	async function look() {
		first.disabled = true;
		mistaken.say();
		let running;
		const cancel = () => running && call('DELETE', `v1/jobs/${running}`).catch(() => {});
		page.addEventListener('abort', cancel);
		try {
			const { job, ops, refused } = await begin();
			running = job.jobId;
			if (page.aborted) {
				cancel();
				return;
			}
			const words = h('span', {}, 'Counting…');
			result.replaceChildren(h('div', { class: 'sending' }, h('progress', { 'aria-label': 'Counting' }), words, h('button', { type: 'button', onclick: cancel }, 'Stop counting')));
			for await (const status of follow(running, page)) {
				words.textContent = `${count(status.counts?.received ?? 0, 'key')} so far`;
				if (!isActive(status.state)) {
					running = undefined;
				}
			}
			if (page.aborted) {
				return;
			}
			const report = await json('GET', `v1/jobs/${job.jobId}`, { signal: page });
			if (report.state !== 'completed') {
				throw new Problem(report.ending?.detail ?? 'The count did not come to its end.');
			}
			show(report.wouldRun, ops, refused);
		}
		catch (error) {
			if (page.aborted) {
				return;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			result.replaceChildren();
			mistaken.say(error.message);
		}
		finally {
			page.removeEventListener('abort', cancel);
			first.disabled = false;
			// A button that is disabled loses the focus.
			if (document.activeElement === document.body) {
				first.focus();
			}
		}
	}

	function show(keys, ops, refused) {
		first.className = '';
		first.textContent = 'Count again';
		tell(`${count(keys, 'key')} counted`);
		if (keys === 0) {
			result.replaceChildren(h('p', { class: 'words' }, 'No key is met. Either there is none any more, or they are not yours: keys under pipeset: are the service’s own.'));
			return;
		}
		const button = (op) => h('button', { type: 'button', class: op === 'UNLINK' ? 'danger' : '', id: op.toLowerCase(), onclick: () => ask(op, keys) }, `${ACTIONS[op].title} them…`);
		result.replaceChildren(h('p', { class: 'words met' }, `${matching(keys)} `, pattern(), ` (at ${moment(Date.now())})`), refused ? h('p', { class: 'hint' }, refused) : '',
				h('p', { class: 'actions' }, ops.map(button)));
	}

	/** Asks for the name, and does it. */
	async function ask(op, keys) {
		const rows = await settings();
		if (page.aborted || result.querySelector('dialog')) {
			return;
		}
		const { title, done } = ACTIONS[op];
		const wanted = shown(name);
		const inputs = {};
		const fields = [['ttl', 'Expire after', { required: true, value: '1d' }], ['ttlJitter', 'Spread by, in percent', { placeholder: '0' }], ['rateLimit', 'Keys a second, at most', { placeholder: 'as fast as it can' }]]
			.filter(([setting]) => op === 'EXPIRE' || setting === 'rateLimit')
			.map(([setting, label, { required, ...properties }]) => {
				const row = rows.find((candidate) => candidate.name === setting);
				const input = inputs[setting] = inputOf(row);
				Object.assign(input, properties, { required: Boolean(required), oninput: check });
				return field(`sweep-${setting}`, label, input, setting === 'ttl' ? 'seconds, or 90s, 12h, 7d' : null);
			});
		const typed = h('input', { spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', required: true, oninput: check });
		const go = h('button', { class: op === 'UNLINK' ? 'danger' : 'main', id: 'sweep', disabled: true }, `${title} ${count(keys, 'key')}`);
		const unsent = notice();
		const line = shell('');
		const form = h('form', { onsubmit: send }, h('h2', { id: 'sweep-title' }, `${title} `, h('span', { class: 'name' }, wanted)),
				h('p', { class: 'met' }, h('strong', {}, matching(keys)), ' ', pattern(), type ? ` and are of the type ${type}` : '', `. ${done} Whatever is written meanwhile may be met as well.`),
				fields.length > 1 ? h('div', { class: 'fields' }, fields) : fields,
				field('sweep-name', ['Type ', h('code', { class: 'name' }, wanted), ' to confirm'], typed), unsent,
				h('p', { class: 'actions' }, go, h('button', { type: 'button', onclick: () => dialog.close() }, 'Leave them')),
				h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line));
		const dialog = h('dialog', { class: 'sweep', 'aria-labelledby': 'sweep-title', onclose: () => dialog.remove() }, form);

		function parameters() {
			return Object.entries(inputs).map(([setting, input]) => [setting, input.value]).filter(([, value]) => value);
		}

		function check() {
			line.say(curl({ method: 'POST', url: address(path(op, parameters())), headers: { Prefer: 'respond-async' }, keyed: isKeyed() }));
			go.disabled = !isTyped();
		}

		function isTyped() {
			return [wanted, textOf(name)].some((one) => one.normalize() === typed.value.normalize());
		}

		async function send(event) {
			event.preventDefault();
			check();
			if (go.disabled) {
				return;
			}
			go.disabled = true;
			unsent.say();
			try {
				const job = await json('POST', path(op, parameters()), { headers: { Prefer: 'respond-async' } });
				begun({ op, match, jobId: job.jobId });
				dialog.close();
				if (!page.aborted) {
					location.hash = `#/jobs/${job.jobId}`;
				}
			}
			catch (error) {
				if (!(error instanceof Problem)) {
					throw error;
				}
				unsent.say(error.message);
				go.disabled = false;
			}
		}

		check();
		result.append(dialog);
		dialog.showModal();
		typed.focus();
	}

	const line = (op, parameters) => shell(curl({ method: 'POST', url: address(path(op, parameters)), keyed: isKeyed() }));
	return h('div', {}, h('p', { class: 'actions' }, first, h('span', { class: 'hint' }, 'This changes nothing. Once they are counted, you can delete them or let them expire.')), mistaken, result,
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), h('p', {}, 'Count'), line('UNLINK', [['dryRun', 'true']]), h('p', {}, 'Delete'), line('UNLINK'),
					h('p', {}, 'Expire'), line('EXPIRE', [['ttl', '1d']])));
}
