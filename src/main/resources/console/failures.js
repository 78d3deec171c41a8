// The records of a job that did not run: a table, a download, and the ways to repeat or fix them.

import { curl, curlLines, shell } from './curl.js';
import { count, h, number, pathOf, section } from './page.js';
import { bytesOf, displayName } from './prefixes.js';
import { VirtualTable } from './rows.js';
import { rowsAt } from './sample.js';
import { Problem, call, textsOf, upload } from './service.js';
import { fixRows, settingsOfRecords, sources } from './tab.js';

/** The most failures that a page shows. The download has all of them. */
const MAX_FAILURES = 10_000;
const MAX_FIXED_ROWS = 1000;

/** The characters at the end of a reason that a row always shows. */
const END_CHARACTERS = 16;
const RECORDS = 'application/x-ndjson';

/** A reason in one line, which always shows its end, because the wrong value is there. Its button chooses the row. */
function reason(text) {
	const end = text.lastIndexOf(' ', text.length - END_CHARACTERS);
	return h('button', { type: 'button', class: 'reason', title: text }, h('span', {}, text.substring(0, end)), h('span', {}, text.substring(end)));
}

/** The readable key of a record. The key of a malformed record may be of any JSON type. */
function keyOf(key) {
	return displayName(bytesOf(typeof key === 'object' ? JSON.stringify(key) : String(key ?? '')));
}

/** The failures that a report lists. */
function reportedRows({ items = [] }) {
	return items.filter(({ error }) => error).map(({ error: { code, message }, index, line, key, status }) => ({ code, message, index, line, status, key: keyOf(key) }));
}

/** The first failures of the list of all. */
async function fetchRows(path, signal) {
	const found = [];
	for await (const line of textsOf(await call('GET', path, { signal }), '\n')) {
		const { key, error } = JSON.parse(line);
		found.push({ key: keyOf(key), ...error });
		if (found.length === MAX_FAILURES) break;
	}
	return found;
}

export class Failures {
	rows = [];
	chosenCode = '';
	table = new VirtualTable('The records that did not run', [
		{ title: 'Line', kind: 'number', cell: (row) => String(row.line ?? row.index ?? '') },
		{ title: 'Outcome', kind: 'narrow', cell: (row) => row.status },
		{ title: 'Code', kind: 'narrow', cell: (row) => h('strong', {}, row.code) },
		{ title: 'Key', kind: 'narrow', cell: (row) => h('code', {}, row.key) },
		{ title: 'Reason', kind: 'wide', cell: (row) => reason(row.message) },
	], (row) => this.choose(row));
	/** The whole key and reason of one row, which its line may cut. */
	whole = h('p', { class: 'whole', role: 'status' });
	words = h('p', { class: 'hint' });
	codes = h('div', { class: 'chips', role: 'group', 'aria-label': 'Error codes' });

	/** @param view the page of the job, with its last status and its report */
	constructor(view, failures) {
		const { id, path, report, last: { dryRun } } = view;
		this.statuses = dryRun ? 'rejected' : report.verified ? 'rejected,different,missing' : 'rejected,unprocessed';
		Object.assign(this, { view, id, path, report, failures, isDry: Boolean(dryRun), source: sources.get(id) });
		const button = (name, label, action) => h('button', { type: 'button', id: name, hidden: true, onclick: () => view.attempt(() => action.call(this)) }, label);
		this.itemsPath = `${path}/items?status=${this.statuses}`;
		this.repeatPath = pathOf('v1/jobs', settingsOfRecords());
		this.fixButton = button('fix', 'Fix the rows', this.fix);
		this.repeatButton = button('repeat', 'Repeat these', this.repeat);
		this.saveButton = button('save', 'Download these', this.save);
		const unknown = this.isDry ? 0 : report.counts.unknown;
		this.element = section('failures', this.summary(unknown), this.codes, this.table.element, this.whole, this.words,
				unknown ? h('p', { class: 'hint' }, `${count(unknown, 'record')} may have run. The table lists them, but the download and the repeat leave them out. Check Redis first.`) : null,
				h('p', { class: 'actions' }, this.fixButton, this.repeatButton, this.saveButton),
				curlLines(shell(curl(this.itemsPath, { output: 'failed.ndjson' })),
						this.isDry ? [] : shell(curl(this.repeatPath, { method: 'POST', headers: { 'Content-Type': RECORDS }, file: 'failed.ndjson' }))));
		this.drawCodes();
		this.table.element.hidden = true;
		this.begin();
	}

	/** The failures in words. Records with the outcome unknown may have run. */
	summary(unknown) {
		const notRun = this.failures - unknown;
		if (this.report.verified) return `${count(notRun, 'record')} not the same in Redis`;
		return [notRun ? `${count(notRun, 'record')} ${this.isDry ? 'would' : 'did'} not run` : null,
			unknown ? `${notRun ? `${number(unknown)} more` : count(unknown, 'record')} may have run` : null].filter((words) => words).join(', ');
	}

	async begin() {
		const { isDry, source, report: { counts, errorCodes } } = this;
		const { rows, hasDownload } = await this.fetch();
		this.rows = rows;
		this.show();
		this.saveButton.hidden = !hasDownload;
		// A malformed record would be rejected again.
		this.repeatButton.hidden = !hasDownload || isDry || counts.rejected + counts.unprocessed <= (errorCodes?.MALFORMED ?? 0);
		this.fixButton.hidden = !source?.blob || isDry || source.type === 'application/json' || this.fixable().length === 0;
		this.fixButton.className = this.fixButton.hidden ? '' : 'main';
	}

	drawCodes() {
		this.codes.replaceChildren(...Object.entries(this.report.errorCodes ?? {}).map(([code, records]) => h('button', { type: 'button', class: 'chip', 'aria-pressed': String(this.chosenCode === code), onclick: () => {
			this.chosenCode = (this.chosenCode === code) ? '' : code;
			this.drawCodes();
			this.show();
		} }, `${code} `, h('b', {}, number(records)))));
	}

	show() {
		const some = this.chosenCode ? this.rows.filter(({ code }) => code === this.chosenCode) : this.rows;
		this.table.show(some);
		this.table.element.hidden = this.whole.hidden = some.length === 0;
		if (some.length) {
			this.choose(some[0]);
		}
		this.words.textContent = some.length < this.failures && !this.chosenCode ? `${count(some.length, 'record')} of ${number(this.failures)} are listed here. The download has all of them.` : '';
	}

	choose({ line, index, key, code, message }) {
		this.whole.replaceChildren(line ? `Line ${line}: ` : `Record ${index}: `, h('strong', {}, code), ' ', h('code', {}, key), ` ${message}`);
	}

	async save() {
		const blob = await (await call('GET', this.itemsPath)).blob();
		const link = h('a', { href: URL.createObjectURL(blob), download: `failed-${this.id}.ndjson` });
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
	}

	async repeat() {
		const { page } = this.view;
		this.repeatButton.disabled = true;
		try {
			const records = await (await call('GET', this.itemsPath, { signal: page })).blob();
			const next = await upload(this.repeatPath, { 'Content-Type': RECORDS, Prefer: 'respond-async' }, records, () => {}, page);
			sources.set(next.jobId, { name: 'repeated records', type: RECORDS, blob: records, op: '' });
			location.hash = `#/jobs/${next.jobId}`;
		} finally {
			this.repeatButton.disabled = false;
		}
	}

	/** The failed rows of the file. A record with the outcome unknown may have run, so it cannot be fixed. */
	fixable() {
		return this.rows.filter(({ line, status }) => line && status !== 'unknown');
	}

	async fix() {
		const { source } = this;
		const rows = await rowsAt(source.blob, source, this.fixable().slice(0, MAX_FIXED_ROWS).map(({ line }) => line));
		if (!this.view.page.aborted) {
			fixRows(rows, { ...source, gzip: false }, source.isFix ? source.name : `rows of ${source.name}`);
		}
	}

	/**
	 * Fetches the list of all failures. If it is gone, returns those of the report. The service has the list of
	 * asynchronous uploads only, and a report does not say how it was requested. So for other jobs than the uploads
	 * of this tab, the list of the report will do if it is complete.
	 */
	async fetch() {
		const { source, view: { page } } = this;
		const reported = reportedRows(this.report);
		if (!source?.blob && reported.length >= this.failures) {
			return { rows: reported, hasDownload: !source };
		}
		try {
			return { rows: await fetchRows(`${this.path}/items${(this.isDry || this.report.verified) ? `?status=${this.statuses}` : ''}`, page), hasDownload: true };
		} catch (error) {
			if (!(error instanceof Problem) && !page.aborted) throw error;
			return { rows: reported, hasDownload: false };
		}
	}
}
