package io.pipeset.record.mapping;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

import io.pipeset.record.ArgumentBytes;
import io.pipeset.record.memory.MemoryReservation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class VectorTests {

	private static ByteBuffer bytes(String form, String text) {
		ArgumentBytes out = new ArgumentBytes(MemoryReservation.UNLIMITED);
		out.begin();
		assertThat(append(out, form, text)).isNull();
		return ByteBuffer.wrap(out.bytes(), out.start(), out.length()).slice().order(ByteOrder.LITTLE_ENDIAN);
	}

	private static @Nullable String problem(String form, String text) {
		return append(new ArgumentBytes(MemoryReservation.UNLIMITED), form, text);
	}

	private static @Nullable String append(ArgumentBytes out, String form, String text) {
		byte[] source = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
		Form found = Form.find(form);
		assertThat(found).isNotNull();
		return found.append(out, State.TEXT, source, 1, source.length - 2, null);
	}

	private static String hex(ByteBuffer bytes) {
		byte[] array = new byte[bytes.remaining()];
		bytes.get(array);
		return HexFormat.of().formatHex(array);
	}

	@ParameterizedTest
	@ValueSource(strings = { "[0.5,-2,1e-07]", "[0.5, -2, 1e-07]", " [ 0.5 ,-2\t,\n1E-07 ] ", "0.5,-2,1e-07",
			"0.5 -2 1e-07", "{0.5,-2,1e-07}", "[+.5 -2. 1e-07]", "[0.50000000000000000000000000000, -2, 0.0000001]" })
	void theSpellingsOfOneVector(String text) {
		assertThat(hex(bytes("f32[3]", text))).isEqualTo("0000003f" + "000000c0" + "95bfd633");
		ByteBuffer doubles = bytes("f64", text);
		assertThat(new double[] { doubles.getDouble(), doubles.getDouble(), doubles.getDouble() }).containsExactly(0.5,
				-2, 1e-7);
		assertThat(doubles.hasRemaining()).isFalse();
	}

	@Test
	void numbersOfAllSizesAreTheNearestOnes() {
		Random random = new Random(7);
		for (int i = 0; i < 100_000; i++) {
			double number = Double.longBitsToDouble(random.nextLong());
			if (Double.isFinite(number)) {
				String text = Double.toString(number);
				assertThat(bytes("f64", text).getDouble()).isEqualTo(number);
				if (Math.abs(number) < 3.4e38) {
					assertThat(bytes("f32", text).getFloat()).isEqualTo(Float.parseFloat(text));
				}
			}
		}
	}

	@Test
	void shortDecimalsAreTheNearestFloatsToo() {
		Random random = new Random(9);
		for (int i = 0; i < 300_000; i++) {
			String digits = Long.toString(random.nextLong() >>> random.nextInt(63));
			int point = random.nextInt(digits.length() + 1);
			String text = ((i % 2 == 0) ? "-" : "") + digits.substring(0, point).replace("-", "")
					+ ((i % 3 == 0) ? "." : ".000") + digits.substring(point).replace("-", "");
			if (text.matches(".*[0-9].*")) {
				assertThat(bytes("f32", text).getFloat()).as(text).isEqualTo(Float.parseFloat(text));
			}
		}
	}

	@Test
	void decimalsBetweenTwoFloatsAreTheNearestFloatsToo() {
		Random random = new Random(11);
		for (int i = 0; i < 100_000; i++) {
			float below = random.nextFloat();
			BigDecimal middle = new BigDecimal(below).add(new BigDecimal(Math.nextUp(below)))
				.divide(BigDecimal.valueOf(2));
			String text = middle.add(BigDecimal.valueOf(random.nextInt(3) - 1, 20)).toPlainString();
			text = (i % 2 == 0) ? text.substring(0, Math.min(text.length(), 20)) : text;
			assertThat(bytes("f32", text).getFloat()).as(text).isEqualTo(Float.parseFloat(text));
		}
	}

	@Test
	void eachNumberOf16BitsIsItsOwnNearestOne() {
		double before = -1;
		for (int bits = 0; bits < 0x7C00; bits++) {
			int exponent = bits >> 10;
			int fraction = bits & 0x3FF;
			double number = (exponent == 0) ? fraction * 0x1p-24 : (1024 + fraction) * Math.scalb(1.0, exponent - 25);
			assertThat(bytes("f16", Double.toString(number)).getShort()).isEqualTo((short) bits);
			assertThat(bytes("f16", Double.toString(-number)).getShort()).isEqualTo((short) (bits | 0x8000));
			if (bits > 0) {
				// Of two that are equally near, the even one.
				assertThat(bytes("f16", new BigDecimal((before + number) / 2).toString()).getShort())
					.isEqualTo((short) (bits - 1 + (bits - 1) % 2));
			}
			before = number;
		}
	}

	@Test
	void aVectorLargerThanTheFirstArray() {
		float[] numbers = new float[65_536];
		Random random = new Random(3);
		for (int i = 0; i < numbers.length; i++) {
			numbers[i] = random.nextFloat();
		}
		ByteBuffer bytes = bytes("f32[65536]", Arrays.toString(numbers));
		for (float number : numbers) {
			assertThat(bytes.getFloat()).isEqualTo(number);
		}
		assertThat(bytes.hasRemaining()).isFalse();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			f32[8] | [1,2,3]          | it has 3 numbers
			f32    | []               | it has no numbers
			f32    | ''               | it has no numbers
			f32    | [1,"x",3]        | its value 2 is '"x"'
			f32    | [1,null]         | its value 2 is 'null'
			f32    | [[1,2],[3,4]]    | its value 1 is '[1'
			f32    | [1,,2]           | its value 2 is ''
			f32    | [1,2,]           | it ends with a comma
			f32    | [1,2             | its value 1 is '[1'
			f32    | {"a":1}          | its value 1 is '"a":1'
			f32    | [NaN]            | its value 1 is 'NaN'
			f32    | [1f]             | its value 1 is '1f'
			f32    | [0x1]            | its value 1 is '0x1'
			f32    | [1-2]            | its value 1 is '1-2'
			f32    | [-]              | its value 1 is '-'
			f32    | [1,3.5e38]       | its value 2 is out of range: '3.5e38'
			f64    | [1e309]          | its value 1 is out of range: '1e309'
			f16    | [-65520]         | its value 1 is out of range: '-65520'
			""")
	void whatIsNoVector(String form, String text, String problem) {
		assertThat(problem(form, text)).isEqualTo(problem);
	}

	@Test
	void aNumberNextToTheMiddleOfTwoIsTheNearestOneOf16Bits() {
		assertThat(bytes("f16", "0.12774658203125").getShort()).isEqualTo((short) 0x3016);
		assertThat(bytes("f16", "0.1277465820312500000001").getShort()).isEqualTo((short) 0x3017);
		assertThat(bytes("f16", "-0.1277465820312499999999").getShort()).isEqualTo((short) 0xB016);
		assertThat(bytes("f16", "65519.99999999999999999").getShort()).isEqualTo((short) 0x7BFF);
	}

	@Test
	void theLargestNumberOf16Bits() {
		assertThat(bytes("f16", "[65519.9]").getShort()).isEqualTo((short) 0x7BFF);
		assertThat(bytes("f16", "[1e-300]").getShort()).isZero();
	}

	/** The nearest double of each is above the text, or below it. */
	@ParameterizedTest
	@ValueSource(strings = { "65520", "70000.1", "70000.5", "65520.00000000000000000001", "1e5", "1e308", "1e999" })
	void aNumberBeyond16BitsIsRefused(String number) {
		assertThat(problem("f16", "[" + number + "]")).contains("out of range");
		assertThat(problem("f16", "[-" + number + "]")).contains("out of range");
	}

	@ParameterizedTest
	@ValueSource(strings = { "f16", "f32", "f64" })
	void aNumberHasABoundedNumberOfDigits(String form) {
		assertThat(problem(form, "[0." + "1".repeat(398) + "]")).isNull();
		assertThat(problem(form, "[0." + "1".repeat(399) + "]")).contains("more than 400 characters");
		assertThat(problem(form, "[65520." + "0".repeat(3_000_000) + "1]")).contains("more than 400 characters");
	}

	@ParameterizedTest
	@ValueSource(strings = { "f31", "F32", "f32[]", "f32[0]", "f32[x]", "f32[1000001]", "f32[8", "hex[8]", "" })
	void aFormThatThereIsNot(String label) {
		assertThat(Form.find(label)).isNull();
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "v:f31", "v:F32", "v:f32[]", "v:float32", "v:fp32", "v:hex[2]", "v:Base64", "v:HEX", "a:b:f8" })
	void aNameThatIsMeantToHaveAForm(String name) {
		assertThat(Form.problem(name)).startsWith("has the name '" + name + "', and '")
			.contains(
					"' is not a form: allowed are json, number, unix, unixms, base64, hex, f16, f32, f64, join, a count");
	}

	@ParameterizedTest
	@ValueSource(strings = { "v", "v:f32", "v:f32[8]", "dc:title", "xs:int", "v:", "f31", "a:b1", "tags:string[]",
			"n:int64" })
	void aNameThatIsFine(String name) {
		assertThat(Form.problem(name)).isNull();
	}

}
