"""Writes the files of this folder by the programs that people use, and what each says as expected/FILE.json.

    python3 write.py [NAME...]     the names are those of the functions below; all of them by default

psql finds its server by PGHOST and the like, mariadb by MARIADB="mariadb --socket=…", redis-cli by REDIS_PORT.
What is expected is what the program itself reads back, if it can; README.md says where it cannot.
"""
import csv, glob, json, os, re, shutil, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = ["id", "n", "ok", "text"]
ROWS = [
    ("01", 1, True, "plain"),
    ("02", None, None, None),
    ("03", 9007199254740993, False, ""),
    ("04", -1, True, "NULL"),
    ("05", 0, False, "\\N"),
    ("06", 6, True, 'say "hi"'),
    ("07", 7, True, "C:\\temp\\new"),
    ("08", 8, True, "a,b;c|d"),
    ("09", 9, True, "tab\there"),
    ("10", 10, True, "one\ntwo"),
    ("11", 11, True, "one\r\ntwo"),
    ("12", 12, True, "one\rtwo"),
    ("13", 13, True, "end\r"),
    ("14", 14, True, "  blanks  "),
    ("15", 15, True, '#{id} [x] {"a":1}'),
    ("16", 16, True, "café 漢字 😀"),
    ("17", 17, True, "007"),
    ("18", 18, True, "true"),
    ("19", 19, True, '\\\\srv\\share, \\"b"\\'),
    ("#20", 20, True, "NA"),
]
COLUMNS = list(zip(*ROWS))
PRODUCERS = {}


def producer(function):
    PRODUCERS[function.__name__] = function
    return function


def run(*command, stdin=None, **environment):
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **environment}).stdout


def said(rows, refused=()):
    """The rows as texts: what each field holds. A null is left out, and so are rows that cannot be read."""
    told = {}
    for row in rows:
        row = row if isinstance(row, dict) else dict(zip(NAMES, row))
        told[row["id"]] = {name: value if isinstance(value, str) else json.dumps(value)
                           for name, value in row.items() if value is not None}
    for key in refused:
        told[key] = "refused"
    return {key: told[key] for key in [row[0] for row in ROWS] if key in told}


def keep(file, rows, refused=(), data=None):
    if data is not None:
        (HERE / file).write_bytes(data)
    told = said(rows, refused)
    lines = [f"{json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in told.items()]
    (HERE / "expected" / (file + ".json")).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(file, *[f"{key}: {told.get(key)}" for key, row in said(ROWS).items()
                  if told.get(key) == "refused" or told.get(key, {}).get("text") != row.get("text")], sep="\n  ")


def values(true="true", false="false", **changed):
    """The rows with a program's own words for booleans, and other texts for those that it changes."""
    return [(i, n, ok if ok is None else true if ok else false, changed.get("_" + i, text)) for i, n, ok, text in ROWS]


@producer
def pandas():
    import pandas as pd
    frame = pd.DataFrame({"id": COLUMNS[0], "n": pd.array(COLUMNS[1], dtype="Int64"),
                          "ok": pd.array(COLUMNS[2], dtype="boolean"), "text": COLUMNS[3]})

    def back(file, **more):
        read = pd.read_csv(HERE / file, dtype=str, keep_default_na=False, na_values=[""], **more)[NAMES]
        return [[None if pd.isna(cell) else cell for cell in row] for row in read.itertuples(index=False)]

    frame.to_csv(HERE / "pandas.csv", index=False)
    keep("pandas.csv", back("pandas.csv"), refused=["12"])
    frame.to_csv(HERE / "pandas-index.csv")
    keep("pandas-index.csv", back("pandas-index.csv"), refused=["12"])
    frame.to_csv(HERE / "pandas-quoted.csv", index=False, quoting=csv.QUOTE_ALL)
    keep("pandas-quoted.csv", back("pandas-quoted.csv"))
    frame.to_csv(HERE / "pandas-na.csv", index=False, na_rep="<null>", lineterminator="\r\n")
    keep("pandas-na.csv", [[None if cell == "<null>" else cell for cell in row] for row in
                           pd.read_csv(HERE / "pandas-na.csv", dtype=str, keep_default_na=False).values.tolist()])
    frame.to_json(HERE / "pandas.ndjson", orient="records", lines=True)
    keep("pandas.ndjson", json_lines("pandas.ndjson"))
    frame.to_json(HERE / "pandas.json", orient="records")
    keep("pandas.json", json.loads((HERE / "pandas.json").read_text()))


def json_lines(file):
    return [json.loads(line) for line in (HERE / file).read_text(encoding="utf-8").split("\n") if line]


@producer
def polars():
    import polars as pl
    frame = pl.DataFrame(dict(zip(NAMES, map(list, COLUMNS))))
    frame.write_csv(HERE / "polars.csv")
    read = pl.read_csv(HERE / "polars.csv", infer_schema=False).rows(named=True)
    assert [row["text"] or "" for row in read] == [text or "" for text in COLUMNS[3]]
    keep("polars.csv", [{**row, "text": text} for row, text in zip(read, COLUMNS[3])])
    frame.write_ndjson(HERE / "polars.ndjson")
    keep("polars.ndjson", json_lines("polars.ndjson"))


@producer
def duckdb():
    import duckdb as db
    db.sql("CREATE TABLE t (id VARCHAR, n BIGINT, ok BOOLEAN, text VARCHAR)")
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)

    def copy(file, options, reading):
        db.sql(f"COPY t TO '{HERE / file}' {options}")
        keep(file, db.sql(f"FROM read_csv('{HERE / file}', header=true, all_varchar=true, delim=',', quote='\"', "
                          f"{reading})").fetchall())

    copy("duckdb.csv", "", "escape='\"', allow_quoted_nulls=false")
    copy("duckdb-null.csv", "(NULLSTR '\\N')", "escape='\"', allow_quoted_nulls=false, nullstr='\\N'")
    copy("duckdb-escape.csv", "(HEADER, ESCAPE '\\')", "escape='\\', allow_quoted_nulls=false")
    db.sql(f"COPY t TO '{HERE / 'duckdb.ndjson'}'")
    keep("duckdb.ndjson", json_lines("duckdb.ndjson"))


@producer
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false") \
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    frame = session.createDataFrame(ROWS, "id string, n bigint, ok boolean, text string").coalesce(1)
    blanks = {"ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}

    def write(file, form, reading, **options):
        with tempfile.TemporaryDirectory() as folder:
            getattr(frame.write, form)(folder, mode="overwrite", **options)
            (HERE / file).write_bytes(Path(glob.glob(folder + "/part-*")[0]).read_bytes())
            if reading is None:
                return keep(file, json_lines(file))
            options = {**options, **blanks, **reading}
            read = session.read.csv(folder, schema="id string, n string, ok string, text string", multiLine=True,
                                    lineSep="\n", **options)
            keep(file, [tuple(row) for row in read.collect()])

    apart = {"emptyValue": "", "nullValue": "<no text>"}
    write("spark.csv", "csv", apart, header=True)
    write("spark-blanks.csv", "csv", apart, header=True, escape='"', **blanks)
    write("spark.ndjson", "json", None)


@producer
def r():
    with tempfile.TemporaryDirectory() as folder:
        data = ", ".join([
            "id = c(%s)" % ", ".join(map(r_text, COLUMNS[0])),
            "n = c(%s)" % ", ".join("NA" if n is None else str(n) for n in COLUMNS[1]),
            "ok = c(%s)" % ", ".join("NA" if ok is None else str(ok).upper() for ok in COLUMNS[2]),
            "text = c(%s)" % ", ".join(map(r_text, COLUMNS[3]))])
        script = Path(folder) / "write.R"
        script.write_text(f"""d <- data.frame({data})
            write.csv(d, "r.csv", row.names = FALSE)
            write.csv(d, "r-names.csv")
            write.table(d, "r-tab.txt", sep = "\\t", row.names = FALSE, qmethod = "double")
            for (f in c("r.csv", "r-names.csv", "r-tab.txt")) {{
                e <- read.table(f, header = TRUE, sep = if (f == "r-tab.txt") "\\t" else ",", colClasses = "character",
                    quote = "\\"", comment.char = "", na.strings = character(), encoding = "UTF-8")[names(d)]
                i <- e$id != "02" & e$id != "03"
                stopifnot(e$text[i] == gsub("\\r\\n?", "\\n", d$text[i]), e$text[2] == "NA", e$text[3] == "")
                writeLines(paste(e$id, e$n, e$ok, sep = ","), paste0(f, ".read"))
            }}""", encoding="utf-8")
        for file in ["r.csv", "r-names.csv", "r-tab.txt"]:
            (HERE / file).unlink(missing_ok=True)
        subprocess.run(["Rscript", str(script)], cwd=HERE, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        for file in ["r.csv", "r-names.csv", "r-tab.txt"]:
            read = HERE / (file + ".read")
            told = [line.split(",") for line in read.read_text().splitlines()]
            read.unlink()
            keep(file, [[i, None if n == "NA" else n, None if ok == "NA" else ok, row[3]]
                        for (i, n, ok), row in zip(told, ROWS)])


def r_text(text):
    return "NA" if text is None else json.dumps(text, ensure_ascii=False)


@producer
def postgresql():
    def psql(*arguments, stdin=None):
        return run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", *arguments, stdin=stdin)

    columns = "id text, n bigint, ok boolean, text text"
    psql("-c", "DROP TABLE IF EXISTS rows, back", "-c", f"CREATE TABLE rows ({columns})",
         "-c", f"INSERT INTO rows SELECT * FROM json_populate_recordset(null::rows, "
               f"$j${json.dumps([dict(zip(NAMES, row)) for row in ROWS])}$j$)",
         "-c", "CREATE TABLE back (id text, n text, ok text, text text)")

    def copy(file, options, reading=None):
        written = psql("-c", f"COPY rows TO STDOUT WITH ({options})")
        psql("-c", "TRUNCATE back", "-c", f"COPY back FROM STDIN WITH ({reading or options})", stdin=written)
        keep(file, json.loads(psql("-At", "-c", "SELECT json_agg(back) FROM back")), data=written)

    copy("postgresql.txt", "HEADER")
    copy("postgresql-bar.txt", "HEADER, DELIMITER '|'")
    copy("postgresql.csv", "FORMAT csv, HEADER")
    copy("postgresql-null.csv", "FORMAT csv, HEADER, NULL '\\N'")
    copy("postgresql-escape.csv", "FORMAT csv, HEADER, ESCAPE '\\'")
    copy("postgresql-quoted.csv", "FORMAT csv, HEADER, FORCE_QUOTE *", "FORMAT csv, HEADER")
    file = psql("--csv", "-c", "SELECT * FROM rows")
    psql("-c", "TRUNCATE back", "-c", "COPY back FROM STDIN WITH (FORMAT csv, HEADER)", stdin=file)
    keep("psql.csv", json.loads(psql("-At", "-c", "SELECT json_agg(back) FROM back")), data=file)
    file = psql("-At", "-c", "SELECT row_to_json(rows) FROM rows")
    keep("psql.ndjson", [json.loads(line) for line in file.decode().split("\n") if line], data=file)


@producer
def mariadb():
    program = os.environ.get("MARIADB", "mariadb").split()

    def client(sql, *options):
        return run(*program, "--default-character-set=utf8mb4", *options, "producers", stdin=sql.encode())

    def sql_text(text):
        return "NULL" if text is None else "_utf8mb4 X'%s'" % text.encode().hex()

    run(*program, "-e", "CREATE DATABASE IF NOT EXISTS producers CHARACTER SET utf8mb4")
    client("DROP TABLE IF EXISTS t, back; CREATE TABLE t (id VARCHAR(9), n BIGINT, ok BOOLEAN, text TEXT);"
           "CREATE TABLE back (id VARCHAR(9), n TEXT, ok TEXT, text TEXT);"
           + "".join(f"INSERT INTO t VALUES ('{i}', {'NULL' if n is None else n}, {'NULL' if ok is None else ok}, "
                     f"{sql_text(text)});" for i, n, ok, text in ROWS))

    def outfile(file, options):
        folder = tempfile.mkdtemp()
        os.chmod(folder, 0o777)
        path = folder + "/rows.txt"
        client(f"SELECT * FROM t INTO OUTFILE '{path}' CHARACTER SET utf8mb4 {options};"
               f"TRUNCATE back; LOAD DATA INFILE '{path}' INTO TABLE back CHARACTER SET utf8mb4 {options};")
        read = client("SELECT JSON_OBJECT('id', id, 'n', n, 'ok', ok, 'text', text) FROM back", "-N", "--raw")
        keep(file, [json.loads(line) for line in read.decode().split("\n") if line], data=Path(path).read_bytes())
        shutil.rmtree(folder)

    outfile("mariadb.txt", "")
    outfile("mariadb-bar.txt", "FIELDS TERMINATED BY '|'")
    outfile("mariadb.csv", "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'")
    keep("mariadb-batch.txt", values("1", "0", _04=None), data=client("SELECT * FROM t", "--batch"))


@producer
def sqlite():
    def text(value):
        return "NULL" if value is None else "CAST(X'%s' AS TEXT)" % value.encode().hex()

    script = "CREATE TABLE t (id TEXT, n INTEGER, ok BOOLEAN, text TEXT);" + "".join(
        f"INSERT INTO t VALUES ('{i}', {'NULL' if n is None else n}, {'NULL' if ok is None else int(ok)}, {text(t)});"
        for i, n, ok, t in ROWS) + "SELECT * FROM t;"
    rows = run("sqlite3", "-json", stdin=script.encode())
    keep("sqlite.json", json.loads(rows), data=rows)
    keep("sqlite.csv", json.loads(rows), data=run("sqlite3", "-csv", "-header", stdin=script.encode()))


@producer
def jq():
    source = json.dumps([dict(zip(NAMES, row)) for row in ROWS]).encode()
    lines = run("jq", "-c", ".[]", stdin=source)
    rows = [json.loads(line) for line in lines.decode().split("\n") if line]
    keep("jq.ndjson", rows, data=lines)
    table = '(["id", "n", "ok", "text"], (.[] | [.id, .n, .ok, .text])) | '
    keep("jq.csv", rows, data=run("jq", "-r", table + "@csv", stdin=source))
    keep("jq.tsv", [{**row, "text": row["text"] or None} for row in rows],
         data=run("jq", "-r", table + "@tsv", stdin=source))


@producer
def redis_cli():
    def cli(*command):
        return run("redis-cli", "-p", os.environ["REDIS_PORT"], *command)

    csv_lines, json_text = b"", b""
    for row in ROWS:
        fields = [part for name, value in said([row])[row[0]].items() for part in (name, value)]
        cli("HSET", "row:" + row[0], *fields)
        csv_lines += cli("--csv", "HMGET", "row:" + row[0], *NAMES)
        json_text += cli("--json", "HMGET", "row:" + row[0], *NAMES)
    keep("redis-cli.csv", values(), refused=["16"], data=csv_lines)
    keep("redis-cli.ndjson", [json.loads(line) for line in json_text.decode().split("\n") if line], data=json_text)


@producer
def kcat():
    broker = subprocess.Popen(["kcat", "-C", "-b", "mock", "-X", "test.mock.num.brokers=1", "-d", "mock", "-t", "idle"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        address = re.search(rb"bootstrap.servers=(\S+)", broker.stderr.readline()).group(1).decode()
        for i, _, _, text in ROWS:
            message = f"{i}\x01{text or ''}".encode()
            run("kcat", "-P", "-b", address, "-t", "rows", "-p", "0", "-K", "\\x01", "-D", "\\x02",
                *(["-Z"] if text is None else []), stdin=message)
        lines = run("kcat", "-C", "-b", address, "-t", "rows", "-p", "0", "-o", "beginning", "-c", str(len(ROWS)), "-J")
    finally:
        broker.kill()
        broker.wait()
    lines = re.sub(rb'"ts":\d+', b'"ts":1795910400000', lines)
    read = [json.loads(line) for line in lines.decode().split("\n") if line]
    keep("kcat.ndjson", [{"id": row["key"], "text": row["payload"]} for row in read], data=lines)


@producer
def libreoffice():
    """The cell of '' is the formula ="" of spreadsheets; a cell without content is the null."""
    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, bool):
            return f'<table:table-cell table:style-name="yesno" office:value-type="boolean" ' \
                   f'office:boolean-value="{str(value).lower()}"/>'
        if isinstance(value, int):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        formula = "" if value else ' table:formula="of:=&quot;&quot;"'
        return f'<table:table-cell{formula} office:value-type="string" office:string-value="%s"/>' % "".join(
            f"&#{ord(c)};" if c in "<>&\"\t\r\n" else c for c in value)

    names = "".join(f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}"' for name, path in [
        ("office", "office:1.0"), ("table", "table:1.0"), ("style", "style:1.0"), ("number", "datastyle:1.0"),
        ("of", "of:1.2")])
    rows = "".join("<table:table-row>%s</table:table-row>" % "".join(map(cell, row)) for row in [NAMES, *ROWS])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.fods"
        source.write_text(
            f'<?xml version="1.0" encoding="UTF-8"?><office:document{names} office:version="1.3" '
            f'office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:automatic-styles>'
            f'<number:boolean-style style:name="b"><number:boolean/></number:boolean-style>'
            f'<style:style style:name="yesno" style:family="table-cell" style:data-style-name="b"/>'
            f'</office:automatic-styles><office:body><office:spreadsheet><table:table table:name="rows">{rows}'
            f'</table:table></office:spreadsheet></office:body></office:document>', encoding="utf-8")
        for file, quote_all in [("libreoffice.csv", "false"), ("libreoffice-quoted.csv", "true")]:
            run("soffice", "-env:UserInstallation=file://" + folder + "/profile", "--headless", "--convert-to",
                f"csv:Text - txt - csv (StarCalc):44,34,76,1,,0,{quote_all},true", "--outdir", folder, str(source))
            data = (Path(folder) / "rows.csv").read_bytes()
            keep(file, [
                [i, n and (n if n < 1 << 53 else "9.00719925474099E+015"), ok, text] for i, n, ok, text in
                values("TRUE", "FALSE", **({} if quote_all == "true" else {"_03": None}))], data=data)


def quoted(text, special):
    return '"%s"' % text.replace('"', '""') if any(c in text for c in special) else text


@producer
def excel():
    """By hand: Excel writes what a cell shows, quotes what has a separator, a quote or a line end, and ends rows by CRLF.
    A cell has no carriage return. In tab text a comma is quoted too."""
    def table(separator, special, true="TRUE", false="FALSE"):
        return "".join(separator.join(row) + "\r\n" for row in [NAMES, *(
            [i, "" if n is None else str(n) if n < 1 << 53 else "9.0072E+15",
             "" if ok is None else true if ok else false, quoted(text or "", special)] for i, n, ok, text in rows)])

    rows = [row for row in ROWS if "\r" not in (row[3] or "")]
    ansi = "café ?? ??"

    def told(true="TRUE", false="FALSE", **changed):
        return [(i, n if n is None or n < 1 << 53 else "9.0072E+15", ok, text or None)
                for i, n, ok, text in values(true, false, **changed) if "\r" not in (text or "")]

    comma = table(",", ',"\n')
    keep("excel-utf8.csv", told(), data=comma.encode("utf-8-sig"))
    keep("excel.csv", told(_16=ansi), data=comma.replace("漢字", "??").replace("😀", "??").encode("cp1252"))
    semicolon = table(";", ';"\n', "WAHR", "FALSCH").replace("漢字", "??").replace("😀", "??")
    keep("excel-semicolon.csv", told("WAHR", "FALSCH", _16=ansi), data=semicolon.encode("cp1252"))
    tab = table("\t", '\t,"\n')
    keep("excel-tab.txt", told(_16=ansi), data=tab.replace("漢字", "??").replace("😀", "??").encode("cp1252"))
    keep("excel-unicode.txt", told(), data=b"\xff\xfe" + tab.encode("utf-16-le"))


def lines_of(objects):
    return "".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n" for each in objects).encode()


@producer
def bigquery():
    """By hand, from the documentation of exports: numbers of 64 bits are strings in JSON, and nulls are left out."""
    def cell(text):
        return "" if text is None else quoted(text, ',"\r\n') or '""'

    rows = values()
    keep("bigquery.csv", rows, data="".join(",".join(map(cell, row)) + "\n" for row in [NAMES, *(
        (i, None if n is None else str(n), ok, text) for i, n, ok, text in rows)]).encode())
    keep("bigquery.ndjson", rows, data=lines_of(
        {name: str(value) if name == "n" else value for name, value in zip(NAMES, row) if value is not None}
        for row in ROWS))


@producer
def mongoexport():
    """By hand, from its documentation and source: CSV by Go's encoding/csv, JSON as relaxed Extended JSON v2."""
    def cell(value):
        text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
        return '"%s"' % text.replace('"', '""') if text.startswith(" ") else quoted(text, ',"\r\n')

    keep("mongoexport.csv", values(_03=None),
         data="".join(",".join(map(cell, row)) + "\n" for row in [NAMES, *ROWS]).encode())
    documents = [{"_id": "65f0000000000000000000%02d" % at, **dict(zip(NAMES, row))} for at, row in enumerate(ROWS)]
    keep("mongoexport.ndjson", documents, data=lines_of({**each, "_id": {"$oid": each["_id"]}} for each in documents))


@producer
def dynamodb():
    """By hand, from the documentation of exports to S3 (DYNAMODB_JSON), which are gzip files."""
    def typed(value):
        return {"NULL": True} if value is None else {"BOOL": value} if isinstance(value, bool) else \
            {"N": str(value)} if isinstance(value, int) else {"S": value}

    keep("dynamodb.ndjson", values(), data=lines_of(
        {"Item": {name: typed(value) for name, value in zip(NAMES, row)}} for row in ROWS))


def main():
    for name in sys.argv[1:] or PRODUCERS:
        PRODUCERS[name]()


main()
