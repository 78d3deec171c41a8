// The end of the page Load: its buttons, its curl lines, and the upload.

import { curl, curlLines, shell } from './curl.js';
import { bytes, duration, h, notice, pathOf, percent } from './page.js';
import { ASYNC, Problem, json, upload } from './service.js';
import { forgetFixed, sources } from './tab.js';

/** The current upload, which continues while the user is on other pages. */
let activeUpload;

/** Why the last upload failed, if not yet shown. */
let uploadFailure;

const DRY_RUN = ['dryRun', 'true'];

addEventListener('beforeunload', (event) => {
	if (activeUpload) {
		event.preventDefault();
	}
});

export class Sending {
	line = shell('');
	dryRunLine = shell('');
	dryRunButton = h('button', { type: 'button', onclick: () => this.send(true) }, 'Dry run');
	loadButton = h('button', { type: 'button', class: 'main', id: 'go', onclick: () => this.send(false) }, 'Load');
	area = h('div', { hidden: true });
	errors = notice();
	element = h('section', { 'aria-labelledby': 'act-title' }, h('h2', { id: 'act-title', class: 'unseen' }, 'Load'),
			h('p', { class: 'actions' }, this.loadButton, this.dryRunButton, h('span', { class: 'hint' }, 'A dry run checks every record and writes nothing.')),
			this.errors, this.area, curlLines('Load', this.line, 'Dry run', this.dryRunLine));

	constructor(view) {
		this.view = view;
		addEventListener('upload', () => this.show(), { signal: view.page });
	}

	focus() {
		this.loadButton.focus();
	}

	showLines() {
		const { mapping, state } = this.view;
		const parameters = mapping.parameters();
		const common = { method: 'POST', headers: { ...mapping.headers(), ...ASYNC.headers } };
		const lineOf = (all) => state.kind ? curl('v1/jobs', { ...common, parameters: all })
			: curl(pathOf('v1/jobs', all), { ...common, file: state.text === undefined ? state.name : 'records' });
		this.line.setText(lineOf(parameters));
		this.dryRunLine.setText(lineOf([...parameters, DRY_RUN]));
	}

	/** Whether all fields are valid. If not, shows the first that is not. */
	isValid() {
		const invalid = this.view.main.querySelector(':is(input, select, textarea):invalid');
		invalid?.closest('details')?.setAttribute('open', '');
		return !invalid || invalid.reportValidity();
	}

	async send(isDry) {
		if (!this.isValid()) return;
		const { view, view: { mapping, state } } = this;
		const { name } = mapping;
		const parameters = mapping.parameters();
		if (!state.settings.label && /^[^\p{C}]{1,120}$/u.test(name)) {
			parameters.push(['label', name]);
		}
		// What compares the records with Redis once they are loaded.
		const compare = { path: pathOf('v1/jobs', [...parameters, ['verify', 'true']]), headers: { ...mapping.headers(), ...ASYNC.headers } };
		const source = { ...state, name, compare };
		view.errors.setText();
		this.errors.setText();
		view.source.reading.abort();
		try {
			const job = await this.post(pathOf('v1/jobs', isDry ? [...parameters, DRY_RUN] : parameters), source);
			sources.set(job.jobId, source);
			if (!isDry) {
				forgetFixed(source);
			}
			activeUpload = undefined;
			if (location.hash === '#/load') {
				location.hash = `#/jobs/${job.jobId}`;
			}
		} catch (error) {
			activeUpload = undefined;
			if (!(error instanceof Problem)) throw error;
			uploadFailure = error.message;
			dispatchEvent(new Event('upload'));
		}
	}

	/** Posts the job, with the file if there is one, and shows the progress. */
	post(path, { kind, name, blob }) {
		const stop = new AbortController();
		const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
		const words = h('span', {});
		const began = performance.now();
		activeUpload = h('div', { class: 'sending' }, h('strong', {}, name), ...kind ? [h('span', {}, 'The service begins the job.')]
			: [bar, words, h('button', { type: 'button', onclick: () => stop.abort() }, 'Stop the upload')]);
		this.show();
		const headers = { ...this.view.mapping.headers(), ...ASYNC.headers };
		return kind ? json('POST', path, { headers }) : upload(path, headers, blob, (done, total) => {
			bar.value = total ? done / total : 1;
			const speed = done / (performance.now() - began);
			words.textContent = `${percent(bar.value)} of ${bytes(total)} uploaded, ${bytes(speed * 1000)}/s${done < total ? `, ${duration((total - done) / speed)} left` : ''}`;
		}, stop.signal);
	}

	/** Shows the current upload, or why it failed. It may have begun on an earlier visit to this page. */
	show() {
		this.area.hidden = !activeUpload;
		this.area.replaceChildren(...activeUpload ? [activeUpload] : []);
		this.loadButton.disabled = this.dryRunButton.disabled = Boolean(activeUpload);
		if (uploadFailure) {
			this.errors.setText(uploadFailure);
			this.errors.scrollIntoView({ block: 'nearest' });
			uploadFailure = undefined;
		}
	}
}
