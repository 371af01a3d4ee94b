// An agent with nothing but Go 1.17 or newer.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type event struct {
	Event string `json:"event"`
	Data  task   `json:"data"`
}

type task struct {
	TaskID      string `json:"taskId"`
	Description string `json:"description"`
	Reason      string `json:"revisionReason"`
	CallbackURL string `json:"callbackUrl"`
	Test        bool   `json:"test"`
}

type change struct {
	Marks []string `json:"marks,omitempty"`
	Body  string   `json:"body,omitempty"`
	Done  string   `json:"done,omitempty"`
}

var secret = []byte(os.Getenv("MARKETPLACE_WEBHOOK_SECRET"))
var journal = filepath.Join(os.Getenv("STATE_DIRECTORY"), "agent.journal") // one process at a time may have it
var seen, order, unfinished, lock = map[string]bool{}, []string{}, map[string]string{}, sync.Mutex{}
var begun sync.WaitGroup
var client = http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func signatureOf(timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func isGenuine(header http.Header, body []byte) bool {
	timestamp := header.Get("X-Service-Timestamp")
	ms, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || len(timestamp) != 13 {
		return false
	}
	age := time.Since(time.UnixMilli(ms))
	if age > 5*time.Minute || age < -5*time.Minute {
		return false
	}
	return hmac.Equal([]byte(signatureOf(timestamp, body)), []byte(header.Get("X-Service-Signature")))
}

// What came and what is done, a change a line: it is on the disk before the 200, and outlives an end of the process.
func keep(c change) error {
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	line, _ := json.Marshal(c)
	if _, err = file.Write(append([]byte("\n"), line...)); err == nil {
		err = file.Sync()
	}
	if err == nil {
		apply(c)
	}
	return err
}

func apply(c change) {
	for _, mark := range c.Marks {
		if !seen[mark] {
			seen[mark] = true
			order = append(order, mark)
		}
	}
	if c.Body != "" {
		unfinished[c.Marks[0]] = c.Body
	}
	delete(unfinished, c.Done)
}

// At the start the journal is read, and written anew with what counts of it. A line that was cut off was never answered.
func recall() error {
	text, _ := os.ReadFile(journal)
	for _, line := range strings.Split(string(text), "\n") {
		var c change
		if json.Unmarshal([]byte(line), &c) == nil {
			apply(c)
		}
	}
	if len(order) > 20_000 {
		order = order[len(order)-20_000:]
	}
	path := journal
	journal = path + ".new"
	os.Remove(journal)
	err := keep(change{Marks: order})
	for mark, body := range unfinished {
		if err == nil {
			err = keep(change{Marks: []string{mark}, Body: body})
		}
	}
	journal = path
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// A retry has the same delivery id and a new signature, a replay by a stranger the same signature.
func isNew(body []byte, marks []string) (bool, error) {
	lock.Lock()
	defer lock.Unlock()
	for _, mark := range marks {
		if seen[mark] {
			return false, keep(change{Marks: marks})
		}
	}
	return true, keep(change{Marks: marks, Body: string(body)})
}

func answer(t task, fields map[string]string) error {
	fields["taskId"] = t.TaskID
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	timestamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	// Where the marketplace has not answered, the same bytes are sent again: what has counted already is done once.
	for pause := time.Second / 2; pause < time.Minute; pause *= 2 {
		request, err := http.NewRequest("POST", t.CallbackURL, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Service-Timestamp", timestamp)
		request.Header.Set("X-Service-Signature", signatureOf(timestamp, body))
		wait := pause
		if response, err := client.Do(request); err == nil {
			said, _ := io.ReadAll(response.Body)
			response.Body.Close()
			status := response.StatusCode
			if status < 300 {
				return nil
			}
			if fields["action"] == "accept" && strings.Contains(string(said), "that is in_progress") {
				return nil // before a restart, so the work is still to be done
			}
			if status != 429 && status < 500 {
				return fmt.Errorf("%s was refused with %s: %s", fields["action"], response.Status, said)
			}
			seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
			if after := time.Duration(seconds) * time.Second; after > wait {
				wait = after
			}
		}
		time.Sleep(wait)
	}
	return fmt.Errorf("%s got no answer", fields["action"])
}

func work(body []byte) error {
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if e.Data.Test || e.Event == "task.submitted" {
		if err := answer(e.Data, map[string]string{"action": "accept"}); err != nil || e.Data.Test {
			return err
		}
	} else if e.Event != "task.revision_requested" {
		return nil
	}
	content := strings.ToUpper(strings.TrimSpace(e.Data.Description + "\n\n" + e.Data.Reason))
	return answer(e.Data, map[string]string{"action": "deliver", "content": content})
}

func webhook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || !isGenuine(r.Header, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	marks := []string{r.Header.Get("X-Service-Signature")}
	if id := r.Header.Get("X-Service-Delivery-Id"); id != "" {
		marks = append(marks, id)
	}
	fresh, err := isNew(body, marks)
	if err != nil {
		log.Println(err)
		w.WriteHeader(http.StatusServiceUnavailable) // it comes again
		return
	}
	w.WriteHeader(http.StatusOK) // first the answer, then the work
	if fresh {
		begun.Add(1)
		go begin(marks[0], body)
	}
}

// What was refused is done too. Only what an end of the process has cut off is begun again.
func begin(mark string, body []byte) {
	defer begun.Done()
	if err := work(body); err != nil {
		log.Println(err)
	}
	lock.Lock()
	defer lock.Unlock()
	if err := keep(change{Done: mark}); err != nil {
		log.Println(err)
	}
}

func main() {
	if len(secret) == 0 {
		log.Fatal("MARKETPLACE_WEBHOOK_SECRET is not set")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	if err := recall(); err != nil {
		log.Fatal(err)
	}
	begun.Add(len(unfinished))
	lock.Lock()
	for mark, body := range unfinished {
		go begin(mark, []byte(body))
	}
	lock.Unlock()
	listener, err := net.Listen("tcp", "localhost:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("The agent listens")
	http.HandleFunc("/webhook", webhook)
	var server http.Server
	go server.Serve(listener)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
	server.Shutdown(context.Background()) // what has begun is done before it ends
	begun.Wait()
}
