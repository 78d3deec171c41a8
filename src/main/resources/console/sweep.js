// The actions on the keys of a prefix: count them, then delete them or let them expire.

import { isActive } from './jobwords.js';
import { fetchSettings } from './tab.js';
import { curl, shell } from './curl.js';
import { announce, count, field, h, inputOf, notice, query, timestamp } from './page.js';
import { bytesOf, displayName, patternOf, textOf } from './prefixes.js';
import { Problem, call, follow, json } from './service.js';

/** The types that a sweep can select. */
const TYPES = ['string', 'list', 'set', 'zset', 'hash', 'stream'];

const ACTIONS = {
	UNLINK: { title: 'Delete', done: 'This deletes them permanently (UNLINK).' },
	EXPIRE: { title: 'Expire', done: 'They expire after the time below, even if they have another expiry (EXPIRE).' },
};

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
	if (obstacle) {
		return h('p', { class: 'hint' }, obstacle);
	}
	const match = patternOf(name);
	const pattern = () => h('code', { class: 'name' }, displayName(bytesOf(match)));
	const path = (op, parameters = []) => `v1/jobs?${query([['from', 'scan'], ['match', match], ...(type ? [['type', type]] : []), ['op', op], ...parameters])}`;
	const errorNotice = notice();
	const result = h('div', { id: 'counted' });
	const countButton = h('button', { type: 'button', class: 'main', id: 'count', onclick: countKeys }, 'Count its keys');

	/** Starts the dry run of an operation that this client may use. */
	async function startDryRun() {
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

	async function countKeys() {
		countButton.disabled = true;
		errorNotice.setText();
		let running;
		const cancel = () => running && call('DELETE', `v1/jobs/${running}`).catch(() => {});
		page.addEventListener('abort', cancel);
		try {
			const { job, ops, refused } = await startDryRun();
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
				throw new Problem(report.ending?.detail ?? 'The count did not finish.');
			}
			show(report, ops, refused);
		}
		catch (error) {
			if (page.aborted) {
				return;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			result.replaceChildren();
			errorNotice.setText(error.message);
		}
		finally {
			page.removeEventListener('abort', cancel);
			countButton.disabled = false;
			// A disabled button loses the focus.
			if (document.activeElement === document.body) {
				countButton.focus();
			}
		}
	}

	function show({ wouldRun: keys, redis }, ops, refused) {
		countButton.className = '';
		countButton.textContent = 'Count again';
		announce(`${count(keys, 'key')} counted`);
		if (keys === 0) {
			result.replaceChildren(h('p', { class: 'words' }, 'No key matches. The keys are gone, or they are the service’s own keys (pipeset:*).'));
			return;
		}
		const button = (op) => h('button', { type: 'button', class: op === 'UNLINK' ? 'danger' : '', id: op.toLowerCase(), onclick: () => openDialog(op, keys, redis) }, `${ACTIONS[op].title} them…`);
		result.replaceChildren(h('p', { class: 'words matches' }, `${matching(keys)} `, pattern(), ` (at ${timestamp(Date.now())})`), refused ? h('p', { class: 'hint' }, refused) : '',
				h('p', { class: 'actions' }, ops.map(button)));
	}

	/** Opens a dialog that starts the sweep after the user typed the name. */
	async function openDialog(op, keys, redis) {
		const rows = await fetchSettings();
		if (page.aborted || result.querySelector('dialog')) {
			return;
		}
		const { title, done } = ACTIONS[op];
		const wanted = displayName(name);
		const inputs = {};
		const fields = [['ttl', 'Expires after', { required: true, value: '1d' }], ['ttlJitter', 'Spread of expiry in percent', { placeholder: '0' }], ['rateLimit', 'Keys per second at most', { placeholder: 'no limit' }]]
			.filter(([setting]) => op === 'EXPIRE' || setting === 'rateLimit')
			.map(([setting, label, { required, ...properties }]) => {
				const row = rows.find((candidate) => candidate.name === setting);
				const input = inputs[setting] = inputOf(row);
				Object.assign(input, properties, { required: Boolean(required), oninput: check });
				input.title = setting;
				return field(`sweep-${setting}`, label, input, setting === 'ttl' ? 'seconds, or 90s, 12h, 7d' : null);
			});
		const typed = h('input', { spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', required: true, oninput: check });
		const go = h('button', { class: op === 'UNLINK' ? 'danger' : 'main', id: 'sweep', disabled: true }, `${title} ${count(keys, 'key')}`);
		const sendErrorNotice = notice();
		const line = shell('');
		const form = h('form', { onsubmit: send }, h('h2', { id: 'sweep-title' }, `${title} ${count(keys, 'key')} of `, h('span', { class: 'name' }, wanted), ` ${op === 'UNLINK' ? 'from' : 'in'} ${redis}?`),
				h('p', { class: 'matches' }, h('strong', {}, matching(keys)), ' ', pattern(), type ? ` and have type ${type}` : '', `. ${done} The sweep may include keys that are written while it runs.`),
				fields.length > 1 ? h('div', { class: 'fields' }, fields) : fields,
				field('sweep-name', ['Type ', h('code', { class: 'name' }, wanted), ' to confirm'], typed), sendErrorNotice,
				h('p', { class: 'actions' }, go, h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel')),
				h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line));
		const dialog = h('dialog', { class: 'sweep', 'aria-labelledby': 'sweep-title', onclose: () => dialog.remove() }, form);

		function parameters() {
			return Object.entries(inputs).map(([setting, input]) => [setting, input.value]).filter(([, value]) => value);
		}

		function check() {
			line.setText(curl(path(op, parameters()), { method: 'POST', headers: { Prefer: 'respond-async' } }));
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
			sendErrorNotice.setText();
			try {
				const job = await json('POST', path(op, parameters()), { headers: { Prefer: 'respond-async' } });
				onStart({ op, match, jobId: job.jobId });
				dialog.close();
				if (!page.aborted) {
					location.hash = `#/jobs/${job.jobId}`;
				}
			}
			catch (error) {
				if (!(error instanceof Problem)) {
					throw error;
				}
				sendErrorNotice.setText(error.message);
				go.disabled = false;
			}
		}

		check();
		result.append(dialog);
		dialog.showModal();
		typed.focus();
	}

	const line = (op, parameters) => shell(curl(path(op, parameters), { method: 'POST' }));
	return h('div', {}, h('p', { class: 'actions' }, countButton, h('span', { class: 'hint' }, 'Counting changes nothing. After it, you can delete the keys or let them expire.')), errorNotice, result,
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), h('p', {}, 'Count'), line('UNLINK', [['dryRun', 'true']]), h('p', {}, 'Delete'), line('UNLINK'),
					h('p', {}, 'Expire'), line('EXPIRE', [['ttl', '1d']])));
}
