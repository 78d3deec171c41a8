// The page Load: a file, a URL or a query, its format, its mapping, a preview as commands, and the upload.

import { formatSection, mappingSection, settingsSection, tunedNotice } from './fields.js';
import { FileChooser } from './file.js';
import { Mapping } from './mapping.js';
import { announce, bytes, count, h, notice } from './page.js';
import { Preview } from './preview.js';
import { FORMATS, isData, isRows, sampleOf, sampleOfRows } from './sample.js';
import { Sending } from './sending.js';
import { SourceForm } from './source.js';
import { fetchSettings, saveLoad, savedLoad } from './tab.js';

/** The preview is refreshed when the user has not typed for this long. */
const PREVIEW_DELAY_MILLIS = 300;
const DELIMITERS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

export async function load(main, page) {
	await new LoadView(main, page, await fetchSettings()).begin();
}

/** What the parts of the page share. */
class LoadView {
	/** Counts what the user has chosen, so that only the last choice is shown. */
	choices = 0;
	chosen = h('p', { class: 'chosen', hidden: true });
	errors = notice();

	/** The parts that depend on the file, its format and its operation. */
	body = h('div', { hidden: true });

	constructor(main, page, rows) {
		this.state = savedLoad();
		this.mapping = new Mapping(this.state, rows.find(({ name }) => name === 'op').values);
		Object.assign(this, { main, page, rows });
		this.chooser = new FileChooser(this);
		this.chooser.sample.hidden = Boolean(this.state.blob);
		this.source = new SourceForm(this);
		this.preview = new Preview(this);
		this.sending = new Sending(this);
		main.append(h('h1', {}, 'Load'), tunedNotice(this), this.source.kinds, this.chooser.element, this.source.form, this.source.waiting, this.chosen, this.errors, this.body);
	}

	/** Shows what the user had chosen on an earlier visit. */
	async begin() {
		const { state, mapping, chooser } = this;
		const offer = this.source.offer();
		if (state.kind) {
			await offer;
		} else if (state.blob) {
			chooser.show(state.text);
		}
		const sample = state.rows ? sampleOfRows(state.rows) : state.blob && await sampleOf(state.blob);
		// The user may have chosen something else meanwhile.
		if (sample && !this.choices && !this.page.aborted) {
			mapping.sample = sample;
			this.show();
			if (state.isFix) {
				chooser.text.focus();
			}
		}
		await offer;
	}

	async choose(blob, name, isTyped = false) {
		const { state, mapping, chooser } = this;
		const choice = ++this.choices;
		let sample;
		try {
			sample = await sampleOf(blob);
		} catch (error) {
			if (choice === this.choices) {
				this.errors.setText(`'${name}' cannot be read (${error.message}). Choose another file.`);
			}
			return;
		}
		if (choice !== this.choices) return;
		if (!isTyped) {
			chooser.show();
		}
		mapping.take(sample, blob, name, isTyped ? chooser.text.value : undefined);
		if (sample.bytes.length === 0) {
			this.errors.setText('This file is empty. Choose another file.');
			return;
		}
		// While the user types or fixes rows, keep the chosen format and mapping.
		if (!isTyped || !(state.touched || state.isFix)) {
			mapping.detect(name);
		}
		saveLoad(state);
		this.show();
	}

	chooseKind(kind) {
		const { state, chooser } = this;
		this.leave();
		this.preview.cancel();
		for (const name of ['blob', 'text', 'name', 'gzip', 'isFix', 'rows', 'readOf', 'touched']) {
			delete state[name];
		}
		state.kind = kind || undefined;
		chooser.input.value = '';
		chooser.show();
		chooser.sample.hidden = false;
		this.errors.setText();
		saveLoad(state);
		this.source.show();
	}

	/** Leaves a choice, whose answers are still to come. */
	leave() {
		this.choices++;
		this.source.reading.abort();
		this.hide();
	}

	hide() {
		this.chosen.hidden = this.body.hidden = true;
	}

	/** Draws all parts that depend on the file, its format and its operation. */
	show() {
		const { state, mapping, chosen, body } = this;
		this.errors.setText();
		mapping.findColumns();
		chosen.hidden = body.hidden = false;
		this.chooser.sample.hidden = true;
		chosen.replaceChildren(h('strong', {}, state.name), state.kind ? ' ' : ` ${bytes(state.blob.size)}${state.gzip ? ', gzip' : ''} `,
			h('span', { class: 'hint' }, state.kind ? this.sourceWords() : state.isFix ? 'Fix the rows above, then load them.' : `detected: ${FORMATS[state.type]}${this.rowWords()}`));
		body.replaceChildren(...(state.kind && !isRows(state.type)) ? [] : [formatSection(this)], mappingSection(this), this.preview.element, settingsSection(this), this.sending.element);
		announce(`${state.name}: ${state.kind ? this.sourceWords() : FORMATS[state.type]}`);
		this.sending.show();
		this.refresh(0);
	}

	/** Shows the same load with changed values. */
	refresh(millis = PREVIEW_DELAY_MILLIS) {
		this.sending.showLines();
		this.preview.schedule(millis);
	}

	/** Takes another separator or header. The rows of a source have to be read again. */
	changeRows() {
		if (this.state.kind) {
			this.state.touched = false;
			this.source.read();
			return;
		}
		this.mapping.guess();
		this.show();
	}

	sourceWords() {
		const { kind, type } = this.state;
		return `${kind === 'query' ? 'a query' : FORMATS[type]}${isData(type) ? `, ${count(this.mapping.columns.length, 'column')} in the first records` : ''}`;
	}

	rowWords() {
		const { type, delimiter, header } = this.state;
		return isRows(type) ? ` with ${DELIMITERS[delimiter] ?? delimiter}, ${header ? 'a header row' : 'no header row'}, ${count(this.mapping.columns.length, 'column')}` : '';
	}
}
