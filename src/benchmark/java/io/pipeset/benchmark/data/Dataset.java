package io.pipeset.benchmark.data;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

import io.pipeset.benchmark.process.BenchmarkException;

/** Files of the same commands, prepared before anything is measured. */
public final class Dataset implements AutoCloseable {

	private final Path directory;

	private final String name;

	private final Shape shape;

	private final long records;

	private final Map<Form, Path> files = new EnumMap<>(Form.class);

	/**
	 * Names a dataset, whose files are written when they are asked for.
	 * @param directory the directory of the files
	 * @param name the first part of their names
	 * @param shape the commands
	 * @param records how many
	 */
	public Dataset(Path directory, String name, Shape shape, long records) {
		this.directory = directory;
		this.name = name;
		this.shape = shape;
		this.records = records;
	}

	public long records() {
		return this.records;
	}

	public Shape shape() {
		return this.shape;
	}

	/**
	 * The file of a form.
	 * @param form how it is written
	 * @return the file, on disk already, so that writing it back disturbs no measurement
	 */
	public Path file(Form form) {
		return this.files.computeIfAbsent(form, this::write);
	}

	private Path write(Form form) {
		Path file = this.directory.resolve(this.name + "." + form.name().toLowerCase(Locale.ROOT));
		try {
			Files.createDirectories(this.directory);
			try (FileOutputStream stream = new FileOutputStream(file.toFile())) {
				write(form, new BufferedOutputStream(stream, 1 << 20));
				stream.getFD().sync();
			}
			return file;
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot write " + file, ex);
		}
	}

	private void write(Form form, OutputStream file) throws IOException {
		GZIPOutputStream gzip = (form.isGzipped()) ? new GZIPOutputStream(file, 1 << 16) : null;
		OutputStream out = (gzip != null) ? gzip : file;
		for (long i = 0; i < this.records; i++) {
			out.write(text(form, i).getBytes(StandardCharsets.UTF_8));
		}
		if (gzip != null) {
			gzip.finish();
		}
		file.flush();
	}

	private String text(Form form, long number) {
		return switch (form) {
			case RESP -> resp(this.shape.command(number));
			case NDJSON, NDJSON_GZIP -> this.shape.json(number) + "\n";
			case JSON ->
				((number == 0) ? "[" : ",\n") + this.shape.json(number) + ((number == this.records - 1) ? "]\n" : "");
			case CSV -> ((number == 0) ? header(this.shape.command(0).size()) : "")
					+ String.join(",", this.shape.command(number)) + "\n";
			case TEXT -> String.join(" ", this.shape.command(number)) + "\n";
		};
	}

	private static String header(int columns) {
		StringBuilder header = new StringBuilder("op,key");
		for (int i = 2; i < columns; i++) {
			header.append(",arg").append(i - 1);
		}
		return header.append('\n').toString();
	}

	/** A command of ASCII arguments. */
	private static String resp(List<String> command) {
		StringBuilder resp = new StringBuilder().append('*').append(command.size()).append("\r\n");
		for (String argument : command) {
			resp.append('$').append(argument.length()).append("\r\n").append(argument).append("\r\n");
		}
		return resp.toString();
	}

	@Override
	public void close() {
		try {
			for (Path file : this.files.values()) {
				Files.deleteIfExists(file);
			}
		}
		catch (IOException ex) {
			throw new BenchmarkException("Cannot delete the files of " + this.name, ex);
		}
	}

}
