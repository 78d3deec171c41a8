// The page Tune: measures which settings are best for this Redis.

import { curl, curlLines, shell } from './curl.js';
import { JobTable, fetchJobs, pollDelay } from './jobtable.js';
import { settingField } from './labels.js';
import { attempt, bytes, count, h, inputOf, notice, number, pathOf, pollWhileVisible, section } from './page.js';
import { ASYNC, json } from './service.js';
import { fetchSettings } from './tab.js';

/** The most tunings that the page lists. */
const MAX_TUNINGS = 100;

/** The approximate size of a command without its value. */
const COMMAND_BYTES = 100;

/** The settings that form the grid. */
const GRID_SETTINGS = ['batchSizes', 'flushes', 'concurrencies'];

/** The baselines that run as often as the rows of the grid. */
const LARGE_BASELINES = 2;

/** @param earlier the query string of an earlier tuning, if the form begins with its parameters */
export async function tune(main, page, earlier = '') {
	const view = new TuneView(main, page, await fetchSettings('tuning'), new URLSearchParams(earlier));
	view.draw();
	await view.refresh();
}

class TuneView {
	cost = h('p', { class: 'hint', id: 'cost', role: 'status' });
	errors = notice();
	go = h('button', { class: 'main', id: 'tune' }, 'Tune');
	line = shell('');
	table = new JobTable(this.errors, () => this.refresh());
	none = h('p', { class: 'empty', hidden: true }, h('strong', {}, 'No tuning has run yet.'), ' The values above are a good start.');

	constructor(main, page, rows, given) {
		Object.assign(this, { page, rows });
		this.inputs = Object.fromEntries(rows.map((row) => [row.name, inputOf(row, given.get(row.name) ?? undefined)]));
		this.refresh = pollWhileVisible(page, (signal) => this.poll(signal));
		main.append(h('h1', {}, 'Tune'), h('p', {}, 'A tuning loads Redis with each combination of settings in a grid. It recommends the best one for your Redis and your network. ', h('strong', {}, 'It is a load test: '), 'it may slow down other clients of that Redis.'),
				h('form', { oninput: () => this.draw(), onsubmit: (event) => this.begin(event) },
						section('load', 'Test load', this.fields(['op', 'records', 'valueBytes', 'runs'])), section('grid', 'Grid', this.fields([...GRID_SETTINGS, 'budget'])),
						this.cost, this.errors, h('p', { class: 'actions' }, this.go)),
				curlLines(this.line), section('earlier', 'Tunings', this.none, this.table.element));
	}

	fields(names) {
		return h('div', { class: 'fields' }, this.rows.filter(({ name }) => names.includes(name)).map((row) => settingField(row, { input: this.inputs[row.name] })));
	}

	/** The value of a setting, or its default. */
	value(name) {
		return this.inputs[name].value.trim() || this.rows.find((row) => row.name === name).defaultValue;
	}

	path() {
		return pathOf('v1/tunings', this.rows.map(({ name }) => [name, this.inputs[name].value.trim()]).filter(([, value]) => value));
	}

	draw() {
		const [records, runs, valueBytes] = ['records', 'runs', 'valueBytes'].map((name) => Number(this.value(name)));
		const grid = GRID_SETTINGS.reduce((product, name) => product * this.value(name).split(',').length, 1);
		const sent = records * ((grid + LARGE_BASELINES) * runs + 1);
		this.cost.textContent = `At most ${count(grid, 'row')}, ${count(runs, 'run')} of each: about ${number(sent)} commands and ${bytes(sent * (valueBytes + COMMAND_BYTES))} to Redis. No run starts after ${this.value('budget')}. The tuning writes only its own keys, and removes them at the end.`;
		this.line.setText(curl(this.path(), { method: 'POST', ...ASYNC }));
	}

	async begin(event) {
		event.preventDefault();
		this.go.disabled = true;
		await attempt(this.errors, this.page, async () => {
			const { jobId } = await json('POST', this.path(), ASYNC);
			if (!this.page.aborted) {
				location.hash = `#/jobs/${jobId}`;
			}
		});
		this.go.disabled = false;
	}

	async poll(signal) {
		const { jobs } = await fetchJobs([['kind', 'tuning'], ['limit', MAX_TUNINGS]], signal);
		this.table.show(jobs);
		this.none.hidden = jobs.length > 0;
		return pollDelay(jobs);
	}
}
