// An agent that is as wrong as mistakes.json says, by the first part of the path, or by MISTAKE.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

type mistake struct {
	Secret        string
	Key           []byte
	Headers       [2]string
	Time          string
	Head          string
	Digest        string
	Path          string
	IsWrittenAnew bool
	IsParsed      bool
	HangsUp       bool
	WorksFirst    bool
	Status        int
	Location      string
	PauseMs       time.Duration
	Calls         []map[string]string
}

type task struct {
	TaskID      string `json:"taskId"`
	CallbackURL string `json:"callbackUrl"`
}

type event struct {
	Event string
	Data  task
}

func mac(key []byte, parts ...[]byte) []byte {
	made := hmac.New(sha256.New, key)
	for _, part := range parts {
		made.Write(part)
	}
	return made.Sum(nil)
}

func send(how mistake, t task, fields map[string]string) {
	now := time.Now()
	times := map[string]int64{"ms": now.UnixMilli(), "s": now.Unix(), "us": now.UnixMicro()}
	timestamp := strconv.FormatInt(times[how.Time], 10)
	given := map[string]string{"taskId": t.TaskID}
	for name, value := range fields {
		given[name] = value
	}
	body, _ := json.Marshal(given)
	made := mac([]byte(how.Secret), []byte(strings.Replace(how.Head, "{time}", timestamp, 1)), body)
	if how.IsWrittenAnew {
		body, _ = json.MarshalIndent(given, "", "  ")
	}
	request, err := http.NewRequest("POST", strings.TrimSuffix(t.CallbackURL, "callback")+how.Path, bytes.NewReader(body))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	if how.Headers[0] != "" {
		request.Header.Set(how.Headers[0], timestamp)
	}
	digest := hex.EncodeToString(made)
	if how.Digest == "base64" {
		digest = base64.StdEncoding.EncodeToString(made)
	}
	request.Header.Set(how.Headers[1], digest)
	// Forged webhooks name an address at which nobody is.
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
	}
}

func works(how mistake, t task) {
	for _, fields := range how.Calls {
		send(how, t, fields)
	}
}

func webhook(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	file, _ := os.ReadFile("mistakes.json")
	var all map[string]mistake
	if err := json.Unmarshal(file, &all); err != nil {
		log.Fatal(err)
	}
	name := os.Getenv("MISTAKE")
	if name == "" {
		name = strings.Split(r.URL.Path, "/")[1]
	}
	how := all[name]
	if given := os.Getenv("MARKETPLACE_WEBHOOK_SECRET"); given != "" {
		how.Secret = given
	}
	if how.HangsUp {
		connection, _, _ := w.(http.Hijacker).Hijack()
		connection.Close()
		return
	}
	if how.Status != 200 {
		if how.Location != "" {
			w.Header().Set("Location", how.Location)
		}
		w.WriteHeader(how.Status)
		return
	}
	verified, key := body, how.Key
	if how.IsParsed {
		verified = []byte(fmt.Sprint(body))
	}
	if key == nil {
		key = []byte(how.Secret)
	}
	made := mac(key, []byte(r.Header.Get("X-Service-Timestamp")+"."), verified)
	if hex.EncodeToString(made) != r.Header.Get("X-Service-Signature") {
		w.WriteHeader(401)
		return
	}
	var e event
	json.Unmarshal(body, &e)
	isWork := e.Event == "task.submitted"
	if isWork && how.WorksFirst {
		works(how, e.Data)
	}
	time.Sleep(how.PauseMs * time.Millisecond)
	w.WriteHeader(200)
	if isWork && !how.WorksFirst {
		go works(how, e.Data)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("The agent listens")
	http.Serve(listener, http.HandlerFunc(webhook))
}
