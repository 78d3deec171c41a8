// Loads records into Redis through Pipeset: streamed, and once only, whatever happens to the connection.
//
//	PIPESET_URL=http://localhost:8080 PIPESET_KEY=... go run load.go 1000000 user:
//
// Needs the standard library only. It ends with 0 if all records ran, and else with 1: failed.ndjson then has the others,
// which can be posted again as they are.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var (
	url    = "http://localhost:8080"
	count  = 1_000_000
	prefix = "user:"
)

// The members of reports and problems that matter here.
type answer struct {
	State  string          `json:"state"`
	Errors bool            `json:"errors"`
	Counts json.RawMessage `json:"counts"`
	Type   string          `json:"type"`
	Detail string          `json:"detail"`

	status   int
	location string
	pause    time.Duration
	replayed bool
}

// records writes one record after the other into the connection, through a buffer.
func records() io.Reader {
	reader, writer := io.Pipe()
	go func() {
		lines := bufio.NewWriterSize(writer, 1<<16)
		encoder := json.NewEncoder(lines)
		for i := 0; i < count; i++ {
			if err := encoder.Encode(map[string]any{"op": "HSET", "key": prefix + strconv.Itoa(i),
				"fields": map[string]string{"name": "User " + strconv.Itoa(i)}}); err != nil {
				return // The connection is lost, and with it the reader.
			}
		}
		writer.CloseWithError(lines.Flush())
	}()
	return reader
}

func send(method, path string, headers map[string]string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequest(method, url+path, body)
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if key := os.Getenv("PIPESET_KEY"); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return http.DefaultClient.Do(request)
}

func read(response *http.Response) (found answer, err error) {
	defer response.Body.Close()
	found.status = response.StatusCode
	found.location = response.Header.Get("Location")
	found.replayed = response.Header.Get("Idempotency-Replayed") != ""
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	found.pause = time.Duration(seconds) * time.Second
	return found, json.NewDecoder(response.Body).Decode(&found)
}

// call sends a request again for as long as another attempt may have a better answer.
func call(method, path string, headers map[string]string, body func() io.Reader) answer {
	pause := 200 * time.Millisecond
	for attempt := 0; attempt < 20; attempt++ {
		var found answer
		response, err := send(method, path, headers, body())
		if err == nil {
			found, err = read(response)
		}
		inUse := found.status == 409 && strings.HasSuffix(found.Type, ":idempotency-key-in-use")
		temporary := found.status == 429 || found.status == 503 || inUse
		if err == nil && (found.replayed || !temporary) {
			return found
		}
		wait := max(pause, found.pause)
		log.Printf("Once more in %v: %v %v", wait, found.Detail, err)
		time.Sleep(wait)
		pause = min(2*pause, 30*time.Second)
	}
	log.Fatal("Gave up")
	return answer{}
}

func none() io.Reader { return nil }

// upload answers with the job. With the same key the records run once, however often they are sent. 202: all of them
// were accepted. interrupted: those of an earlier attempt were, and the process that had them has died.
func upload() string {
	found := call("POST", "/v1/jobs", map[string]string{"Content-Type": "application/x-ndjson",
		"Prefer": "respond-async", "Idempotency-Key": rand.Text()}, records)
	accepted := found.status == 202 || found.replayed || strings.HasSuffix(found.Type, ":interrupted")
	if !accepted || found.location == "" {
		log.Fatal(found.Detail)
	}
	return found.location
}

// follow waits for the end of the job, and has it go on if its process has died.
func follow(job string) answer {
	for {
		found := call("GET", job, nil, none)
		switch {
		case found.status != 200:
			log.Fatal(found.Detail)
		case found.State == "interrupted":
			if resumed := call("POST", job+"/resume", nil, none); resumed.status != 202 {
				log.Fatal(resumed.Detail)
			}
		case found.State != "queued" && found.State != "running":
			return found
		}
		time.Sleep(found.pause)
	}
}

func main() {
	log.SetFlags(0)
	if value := os.Getenv("PIPESET_URL"); value != "" {
		url = value
	}
	if len(os.Args) > 1 {
		var err error
		if count, err = strconv.Atoi(os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
	if len(os.Args) > 2 {
		prefix = os.Args[2]
	}
	job := upload()
	report := follow(job)
	fmt.Println(report.State, string(report.Counts))
	if report.Errors {
		items, err := send("GET", job+"/items", nil, nil)
		if err != nil || items.StatusCode != 200 {
			log.Fatal("No items: ", err)
		}
		file, err := os.Create("failed.ndjson")
		if err != nil {
			log.Fatal(err)
		}
		if _, err = io.Copy(file, items.Body); err != nil {
			log.Fatal(err)
		}
		log.Fatalf("%s%s: what did not run is in failed.ndjson", url, job)
	}
}
