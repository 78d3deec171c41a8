// The choice of a file: dropped, chosen, pasted, or a sample.

import { h } from './page.js';

/** What the page loads for users who have no file at hand. */
const SAMPLE = 'id,name,city\n17,Ada,London\n18,Grace,New York\n19,Linus,Helsinki\n';

export class FileChooser {
	text = h('textarea', { id: 'text', rows: 5, spellcheck: 'false', placeholder: 'sid,name,price\n17,Ada,4.50', oninput: () => this.text.value.trim() && this.chooseText('pasted records') });
	pasted = h('details', {}, h('summary', {}, 'or paste records'), h('label', { class: 'unseen', for: 'text' }, 'Records'), this.text);
	input = h('input', { type: 'file', id: 'file', onchange: () => this.choose(this.input.files[0]) });
	sample = h('p', { class: 'actions' }, h('button', { type: 'button', id: 'sample', onclick: () => this.chooseSample() }, 'Try a sample'),
			h('span', { class: 'hint' }, 'Three records in CSV. Their keys expire after an hour.'));

	constructor(view) {
		this.view = view;
		const drop = h('div', { class: 'drop', ondragover: (event) => {
			event.preventDefault();
			drop.classList.add('over');
		}, ondragleave: () => drop.classList.remove('over'), ondrop: (event) => {
			event.preventDefault();
			drop.classList.remove('over');
			this.choose(event.dataTransfer.files[0]);
		} }, h('p', {}, h('strong', {}, 'Drop a file here'), ' or ', h('label', { for: 'file', class: 'button' }, 'choose one', this.input)),
		h('p', { class: 'hint' }, 'CSV, TSV, JSON, NDJSON, redis-cli commands or RESP, also as gzip. Nothing is written until you load it.'));
		this.element = h('div', {}, drop, this.pasted, this.sample);
	}

	choose(file) {
		if (file) {
			this.view.choose(file, file.name);
		}
	}

	chooseText(name) {
		return this.view.choose(new Blob([this.text.value]), name, true);
	}

	async chooseSample() {
		this.show(SAMPLE);
		await this.chooseText('sample.csv');
		this.view.state.ttl = '1h';
		this.view.show();
		this.view.sending.focus();
	}

	/** Shows the text of the load, if it has no file. */
	show(text) {
		this.text.value = text ?? '';
		this.pasted.open = text !== undefined;
	}
}
