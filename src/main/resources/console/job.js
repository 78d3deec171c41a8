// A job: followed while it runs, and its account when it has ended.

import { OUTCOMES, Chart } from './chart.js';
import { mend, settingsOfRecords, sources } from './load.js';
import { bytes, count, curl, duration, h, moment, notice, number, percent, query, shell, tell } from './page.js';
import { bytesOf, shown } from './prefixes.js';
import { Rows } from './rows.js';
import { tuned } from './heat.js';
import { rowsAt } from './sample.js';
import { Problem, address, call, chunks, follow, isKeyed, json, upload } from './service.js';

/** The failures that a page shows; all others are in the download. */
const MOST_FAILURES = 10_000;

/** The wrong rows that one mends by hand. */
const MOST_MENDED = 1000;

/** The letters at the end of a reason that a row has always room for. */
const END_LETTERS = 16;

const MEANINGS = {
	applied: 'Redis ran it',
	noop: 'Redis ran it, and there was nothing to do',
	rejected: 'refused: data did not change',
	unknown: 'it may have run',
	unprocessed: 'it did not run',
};

export const STATES = {
	queued: 'waits', running: 'runs', completed: 'completed', stopped: 'stopped', failed: 'failed', cancelled: 'cancelled', interrupted: 'interrupted',
};

export function isActive(state) {
	return state === 'queued' || state === 'running';
}

/** The name of a job: its operation, and its file where this tab has sent it. */
export function titleOf(status) {
	const what = { analysis: 'Analysis', tuning: 'Tuning' }[status.kind] ?? `${(status.op ?? 'records').replace('mixed', 'Mixed')} job`;
	const source = sources.get(status.jobId);
	return source ? `${what}: ${source.name}` : what;
}

/** The thing that a job counts. */
export function nounOf({ kind }) {
	return { analysis: 'key', tuning: 'run' }[kind] ?? 'record';
}

export function badge(state) {
	return h('span', { class: `badge ${state}` }, STATES[state] ?? state);
}

/** A reason with its end, which has the wrong value, however little room there is. */
function reason(text) {
	const end = text.lastIndexOf(' ', text.length - END_LETTERS);
	return h('span', { class: 'reason', title: text }, h('span', {}, text.substring(0, end)), h('span', {}, text.substring(end)));
}

/** The key of a record as one reads it; it may be anything where the record is malformed. */
function keyOf(key) {
	return shown(bytesOf(typeof key === 'object' ? JSON.stringify(key) : String(key ?? '')));
}

export async function job(main, page, id) {
	const path = `v1/jobs/${id}`;
	const title = h('h1', {}, 'Job');
	const state = h('span', {});
	const about = h('p', { class: 'hint' });
	const ending = notice();
	ending.removeAttribute('role');
	const mistaken = notice();
	const bar = h('progress', { max: 1, 'aria-label': 'The share that is done' });
	const words = h('p', { class: 'words' });
	const progress = h('div', { class: 'following' }, bar, words);
	const chart = new Chart();
	const tiles = h('dl', { class: 'tiles' });
	const controls = h('section', { 'aria-labelledby': 'controls-title', hidden: true });
	const account = h('div');
	main.append(h('div', { class: 'title' }, title, state), about, ending, mistaken, progress, tiles, chart.element, controls, account);

	let last;
	let report;
	let asking;

	async function attempt(action, otherwise = () => {}) {
		mistaken.say();
		try {
			return await action();
		}
		catch (error) {
			if (page.aborted) {
				return undefined;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			mistaken.say(error.message);
			otherwise(error);
			return undefined;
		}
	}

	function tile(name, value, kind, meaning) {
		return h('div', { class: `tile ${kind ?? ''}`, title: meaning }, h('dt', {}, name), h('dd', {}, value));
	}

	function draw() {
		const { counts, kind } = last;
		const now = last.progress;
		title.textContent = titleOf(last);
		document.title = `${isActive(last.state) && now.share !== undefined ? `${percent(now.share)} ` : ''}${titleOf(last)} · Pipeset`;
		state.replaceChildren(badge(last.state), ...(last.dryRun ? [h('span', { class: 'badge' }, 'dry run')] : []));
		about.replaceChildren(`asked for at ${moment(last.createdMillis)}${last.endedMillis ? `, took ${duration(last.endedMillis - last.createdMillis)}` : ''} `, h('code', {}, id));
		ending.say(last.ending?.detail);
		progress.hidden = !isActive(last.state);
		if (now.share !== undefined) {
			bar.value = now.share;
		}
		else {
			bar.removeAttribute('value');
		}
		const noun = nounOf(last);
		words.textContent = (last.state === 'queued') ? 'It waits for its turn.' : (kind === 'tuning' && !now.total) ? 'It opens connections and warms up.' : [now.share === undefined ? null : percent(now.share),
			now.total ? `${number(now.done)} of ${count(now.total, noun)}` : count(now.done, noun), kind === 'tuning' ? null : `${number(now.perSecond)}/s`,
			now.leftMillis === undefined ? null : `${duration(now.leftMillis)} left`].filter((word) => word).join(' · ');
		const active = isActive(last.state);
		const batches = report?.timings?.batches;
		const pace = active ? now.perSecond : report?.commandsPerSecond || now.averagePerSecond;
		tiles.replaceChildren(...(counts ? OUTCOMES.filter((name) => name !== 'rejected').concat('rejected').filter((name) => counts[name] || name === (last.dryRun ? 'unprocessed' : 'applied') || name === 'rejected')
			.map((name) => tile(name === 'unknown' && active ? 'on their way' : name === 'unprocessed' && last.dryRun ? 'would run' : name, number(counts[name]), `outcome ${name}${counts[name] ? '' : ' none'}`, name === 'unknown' && active ? 'sent, and not answered yet' : MEANINGS[name])) : []),
				// Nothing is known of the time that an interrupted job took.
				...(kind === 'tuning' || last.state === 'interrupted' ? [] : [tile(active ? 'pace' : 'pace in all', `${number(pace)}/s`, '', `${noun}s a second`)]),
				...(batches?.count ? [tile('batch p50', duration(batches.p50Millis), '', 'half of the batches took no longer'), tile('batch p99', duration(batches.p99Millis), '', '99 of 100 batches took no longer')] : []));
		if (counts && !last.dryRun) {
			chart.add(now.elapsedMillis, counts, active);
		}
	}

	let drawn;

	/** Where one types the pace of a job that is active. */
	let pace;

	/** The buttons that a state has; drawn anew only when it changes, so that nobody loses what he types. */
	function drawControls() {
		const now = isActive(last.state) ? 'active' : last.state;
		if (now === 'active' && pace && report && !pace.dataset.used) {
			pace.value = report.settings?.rateLimit ?? '';
		}
		if (drawn === now) {
			return;
		}
		drawn = now;
		if (now === 'active') {
			pace = h('input', { type: 'number', id: 'pace', min: 1, max: 1_000_000_000, step: 1, placeholder: 'no limit', value: report?.settings?.rateLimit ?? '' });
			const paceLine = shell(curl({ method: 'PATCH', url: address(`${path}?rateLimit=5000`), keyed: isKeyed() }));
			const limit = () => pace.value || 'none';
			pace.addEventListener('input', () => paceLine.say(curl({ method: 'PATCH', url: address(`${path}?rateLimit=${limit()}`), keyed: isKeyed() })));
			pace.addEventListener('focus', () => pace.dataset.used = 'yes');
			const change = (event) => {
				event.preventDefault();
				if (pace.reportValidity()) {
					attempt(async () => {
						await call('PATCH', `${path}?rateLimit=${limit()}`);
						tell(pace.value ? `The pace is ${number(Number(pace.value))} a second now` : 'There is no limit to the pace now');
					});
				}
			};
			controls.replaceChildren(h('h2', { id: 'controls-title', class: 'unseen' }, 'Change it'),
					h('form', { class: 'actions', onsubmit: change },
							h('button', { type: 'button', id: 'cancel', onclick: () => attempt(() => call('DELETE', path)) }, 'Cancel the job'),
							...(last.kind === 'tuning' ? [] : [h('label', { for: 'pace' }, 'Records a second'), pace, h('button', { id: 'change' }, 'Change the pace')])),
					h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'),
							h('p', {}, 'Follow'), shell(curl({ method: 'GET', url: address(`${path}/events`), headers: { Accept: 'text/plain' }, keyed: isKeyed() }).replace('-sS', '-sSN')),
							h('p', {}, 'Cancel'), shell(curl({ method: 'DELETE', url: address(path), keyed: isKeyed() })),
							...(last.kind === 'tuning' ? [] : [h('p', {}, 'Change the pace'), paceLine])));
			controls.hidden = false;
		}
		else if (now === 'interrupted') {
			if (last.kind !== 'records') {
				controls.hidden = true;
				return;
			}
			controls.replaceChildren(h('h2', { id: 'controls-title' }, 'Its process has ended'),
					h('p', {}, 'The service was stopped while this job ran. It can go on where it was, if its records may be repeated.'),
					h('p', { class: 'actions' }, h('button', { type: 'button', class: 'main', id: 'resume', onclick: () => attempt(async () => {
						await call('POST', `${path}/resume`);
						chart.forget();
						run();
					}) }, 'Go on'), h('button', { type: 'button', onclick: () => attempt(async () => {
						await call('DELETE', path);
						run();
					}) }, 'Cancel the job')),
					h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), shell(curl({ method: 'POST', url: address(`${path}/resume`), keyed: isKeyed() }))));
			controls.hidden = false;
		}
		else {
			controls.hidden = true;
		}
	}

	async function look() {
		if (asking) {
			return;
		}
		const mine = asking = {};
		try {
			const found = await json('GET', path, { signal: page });
			// The job may have ended meanwhile, and its last report be there.
			if (mine === asking) {
				report = found;
			}
		}
		catch {
			// The events tell what there is to tell.
		}
		if (mine === asking) {
			asking = undefined;
		}
	}

	async function run() {
		// The page may be younger than the pause between two looks.
		let looked = -Infinity;
		account.replaceChildren();
		const ended = await attempt(async () => {
			for await (const status of follow(id, page)) {
				const before = last?.state;
				last = status;
				if (isActive(status.state) && performance.now() - looked > 1000) {
					looked = performance.now();
					look();
				}
				draw();
				drawControls();
				if (before && before !== status.state) {
					tell(`The job ${STATES[status.state]}`);
				}
			}
			return true;
		}, (problem) => problem.status === 404 && drawForgotten());
		if (!ended || !last || page.aborted) {
			return;
		}
		asking = undefined;
		report = undefined;
		await look();
		draw();
		drawControls();
		drawAccount();
		tell(`The job is ${STATES[last.state]}. ${last.counts ? OUTCOMES.filter((name) => last.counts[name]).map((name) => `${number(last.counts[name])} ${name}`).join(', ') : ''}`);
	}

	/** Nobody knows how it has ended: what was seen last is not how it stands. */
	function drawForgotten() {
		[progress, tiles, chart.element, controls].forEach((part) => part.hidden = true);
		state.replaceChildren(...(last ? [h('span', { class: 'badge failed' }, 'not known any more')] : []));
		document.title = 'Job · Pipeset';
	}

	function drawAccount() {
		if (!report) {
			account.replaceChildren(h('p', { class: 'hint' }, 'Its report is not there any more.'));
			return;
		}
		const rejected = last.dryRun;
		const failures = (report.counts && report.errors) ? (rejected ? report.counts.rejected : report.counts.rejected + report.counts.unknown + report.counts.unprocessed) : 0;
		const warnings = (report.warnings ?? []).map((warning) => h('p', { class: 'warning' }, h('strong', {}, warning.code), ` ${warning.detail}`));
		account.replaceChildren(...warnings);
		if (report.counts && !failures && last.state === 'completed') {
			account.append(h('p', { class: 'good' }, rejected ? `All ${count(report.wouldRun ?? 0, 'record')} would run.`
				: (report.counts.received === 0) ? 'There was no record in it.' : (report.counts.received === 1) ? 'Its one record ran.' : `All ${count(report.counts.received, 'record')} ran.`));
		}
		if (failures) {
			drawFailures(failures, rejected);
		}
		const source = sources.get(id);
		if (rejected && source) {
			account.append(h('p', { class: 'actions' }, h('a', { class: 'button main', href: '#/load' }, 'Back to the load'),
					h('span', { class: 'hint' }, failures ? 'Nothing was written. Mend the file, or load it as it is and mend these rows then.' : 'Nothing was written.')));
		}
		if (source?.from) {
			account.append(h('p', { class: 'actions' }, h('a', { class: 'button', href: source.from }, 'Back to the keyspace')));
		}
		if (last.kind === 'analysis' && report.prefixes) {
			account.append(h('p', { class: 'actions' }, h('a', { class: 'button', href: `#/keyspace/${id}` }, 'Its prefixes, types and largest keys')));
		}
		if (report.counts) {
			drawReport();
		}
		if (report.rows) {
			account.append(tuned(report));
		}
		account.append(h('details', {}, h('summary', {}, 'The report as JSON'), shell(curl({ method: 'GET', url: address(path), keyed: isKeyed() })),
				h('pre', { class: 'scroll', tabindex: 0 }, JSON.stringify({ ...report, items: report.items?.slice(0, 20) }, null, 2))));
	}

	function drawReport() {
		const { timings, settings } = report;
		const fact = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));
		account.append(h('section', { 'aria-labelledby': 'report-title' }, h('h2', { id: 'report-title' }, 'Report'), h('dl', { class: 'facts' },
				fact('records', number(report.counts.received)), fact('commands sent', number(report.commandsSent)), fact('bytes sent', bytes(report.bytesSent)), fact('sent to', report.redis),
				fact('in all', duration(timings.totalMillis)), fact('waiting', duration(timings.waitMillis)), fact('reading', duration(timings.readMillis)),
				fact('Redis', duration(timings.redisMillis)), fact('batches', number(timings.batches.count)), fact('longest batch', duration(timings.batches.maxMillis))),
				h('h3', {}, 'Settings in effect'), h('dl', { class: 'facts' }, ...Object.entries(settings).filter(([, value]) => value !== false).map(([name, value]) => fact(name, Array.isArray(value) ? value.join('  ') : String(value))))));
	}

	/** The failures in words: of those that are unknown, nobody may say that they did not run. */
	function missed(failures, isDry) {
		const unknown = isDry ? 0 : report.counts.unknown;
		const sure = failures - unknown;
		return [sure ? `${count(sure, 'record')} ${isDry ? 'would' : 'did'} not run` : null,
			unknown ? `${sure ? `${number(unknown)} more` : count(unknown, 'record')} may have run` : null].filter((words) => words).join(', ');
	}

	function drawFailures(failures, isDry) {
		const statuses = isDry ? 'rejected' : 'rejected,unprocessed';
		const itemsPath = `${path}/items?status=${statuses}`;
		const again = `v1/jobs?${query(settingsOfRecords())}`.replace(/\?$/, '');
		let all = [];
		let chosen = '';
		const rows = new Rows('The records that did not run', [
			{ title: 'Line', kind: 'number', cell: (row) => String(row.line ?? row.index ?? '') },
			{ title: 'Outcome', kind: 'narrow', cell: (row) => row.status },
			{ title: 'Code', kind: 'narrow', cell: (row) => h('strong', {}, row.code) },
			{ title: 'Key', kind: 'narrow', cell: (row) => h('code', {}, row.key) },
			{ title: 'Reason', kind: 'wide', cell: (row) => reason(row.message) },
		]);
		const shownWords = h('p', { class: 'hint' });
		const codes = h('div', { class: 'chips', role: 'group', 'aria-label': 'Error codes' });
		const drawCodes = () => codes.replaceChildren(...Object.entries(report.errorCodes ?? {}).map(([code, number_]) => h('button', { type: 'button', class: 'chip', 'aria-pressed': String(chosen === code), onclick: () => {
			chosen = (chosen === code) ? '' : code;
			drawCodes();
			show();
		} }, `${code} `, h('b', {}, number(number_)))));
		const show = () => {
			const some = chosen ? all.filter((row) => row.code === chosen) : all;
			rows.show(some);
			rows.element.hidden = some.length === 0;
			shownWords.textContent = some.length < failures && !chosen ? `${count(some.length, 'record')} of ${number(failures)} are listed here, all of them in the download.` : '';
		};
		const save = h('button', { type: 'button', id: 'save', onclick: () => attempt(async () => {
			const blob = await (await call('GET', itemsPath)).blob();
			const link = h('a', { href: URL.createObjectURL(blob), download: `failed-${id}.ndjson` });
			link.click();
			setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
		}) }, 'Download these');
		const repeat = h('button', { type: 'button', id: 'repeat', hidden: Boolean(isDry), onclick: () => attempt(async () => {
			repeat.disabled = true;
			try {
				const records = await (await call('GET', itemsPath, { signal: page })).blob();
				const next = await upload(again, { 'Content-Type': 'application/x-ndjson', Prefer: 'respond-async' }, records, () => {}, page);
				sources.set(next.jobId, { name: 'repeated records', type: 'application/x-ndjson', blob: records, op: '' });
				location.hash = `#/jobs/${next.jobId}`;
			}
			finally {
				repeat.disabled = false;
			}
		}) }, 'Repeat these');
		const source = sources.get(id);
		// Those that are unknown may have run.
		const wrong = () => all.filter((row) => row.line && row.status !== 'unknown');
		const fix = h('button', { type: 'button', id: 'mend', hidden: true, onclick: () => attempt(async () => {
			const lines = wrong().slice(0, MOST_MENDED).map((row) => row.line);
			const rows = await rowsAt(source.blob, source, lines);
			if (!page.aborted) {
				mend(rows, { ...source, gzip: false }, source.mended ? source.name : `rows of ${source.name}`);
			}
		}) }, 'Mend the rows');
		const unknown = report.counts.unknown && !isDry ? h('p', { class: 'hint' }, `${count(report.counts.unknown, 'record')} may have run. They are in the table, but neither in the download nor repeated: look at Redis first.`) : null;
		account.append(h('section', { 'aria-labelledby': 'failures-title' },
				h('h2', { id: 'failures-title' }, missed(failures, isDry)),
				codes, rows.element, shownWords, unknown, h('p', { class: 'actions' }, fix, repeat, save),
				h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), shell(curl({ method: 'GET', url: address(itemsPath), output: 'failed.ndjson', keyed: isKeyed() })),
						isDry ? null : shell(curl({ method: 'POST', url: address(again), headers: { 'Content-Type': 'application/x-ndjson' }, file: 'failed.ndjson', keyed: isKeyed() })))));
		drawCodes();
		rows.element.hidden = true;
		listed().then((found) => {
			all = found.rows;
			show();
			save.hidden = !found.kept;
			// Malformed records stay so.
			repeat.hidden = !found.kept || isDry || report.counts.rejected + report.counts.unprocessed <= (report.errorCodes?.MALFORMED ?? 0);
			fix.hidden = !source?.blob || isDry || source.type === 'application/json' || wrong().length === 0;
			fix.className = fix.hidden ? '' : 'main';
		});

		/** The failures from the list of all, or else those of the report. */
		async function listed() {
			try {
				const response = await call('GET', `${path}/items${isDry ? '?status=rejected' : ''}`, { signal: page });
				const found = [];
				let rest = '';
				for await (const text of chunks(response)) {
					const lines = (rest + text).split('\n');
					rest = lines.pop();
					for (const line of lines) {
						const { key, error } = JSON.parse(line);
						found.push({ key: keyOf(key), ...error });
					}
					if (found.length >= MOST_FAILURES) {
						break;
					}
				}
				return { rows: found.slice(0, MOST_FAILURES), kept: true };
			}
			catch (error) {
				if (!(error instanceof Problem) && !page.aborted) {
					throw error;
				}
				const found = (report.items ?? []).filter((item) => item.error)
					.map(({ error: { code, message }, index, line, key, status }) => ({ code, message, index, line, status, key: keyOf(key) }));
				return { rows: found, kept: false };
			}
		}
	}

	await run();
}
