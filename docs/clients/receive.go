// Receives the callbacks of jobs, and verifies their signatures.
//
//	PIPESET_CALLBACK_SECRET=whsec_... go run receive.go 8081
//
// Needs Go 1.20 or later, and nothing else. It prints the state and the counts of each job that has ended.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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

// isSigned says whether the secret signed the body within the last five minutes, so that nobody can send an old one again.
func isSigned(secret []byte, header http.Header, body []byte) bool {
	sent, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), sent, body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, value := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(value), expected) {
			return true
		}
	}
	return false
}

func main() {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("PIPESET_CALLBACK_SECRET"), "whsec_"))
	if err != nil || len(secret) == 0 {
		log.Fatal("PIPESET_CALLBACK_SECRET is no secret")
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || !isSigned(secret, request.Header, body) {
			response.WriteHeader(401)
			return
		}
		// The same report may come twice, with the same webhook-id.
		var job struct {
			State  string
			Counts json.RawMessage
		}
		if err := json.Unmarshal(body, &job); err != nil {
			response.WriteHeader(400)
			return
		}
		fmt.Println(request.Header.Get("webhook-id"), job.State, string(job.Counts))
		response.WriteHeader(204)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
