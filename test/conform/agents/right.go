// A right agent by hand, with nothing but Go 1.17 or newer.
package main

import (
	"bufio"
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
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	fiveMinutes  = 5 * time.Minute
	mostBytes    = 1 << 20
	mostAttempts = 7
	longestEnd   = 3 * time.Second
	// In characters.
	longestMessage = 5000
)

type event struct {
	Event     string `json:"event"`
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	TaskID         string `json:"taskId"`
	Title          string `json:"title"`
	Description    string `json:"description"`
	Requirements   string `json:"requirements"`
	RevisionReason string `json:"revisionReason"`
	Message        string `json:"message"`
	CallbackURL    string `json:"callbackUrl"`
	Test           bool   `json:"test"`
}

var (
	secret      = []byte(os.Getenv("MARKETPLACE_WEBHOOK_SECRET"))
	stateFile   = os.Getenv("MUTANT_STATE")
	thirteen    = regexp.MustCompile(`^[0-9]{13}$`)
	sixtyFour   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	malware     = regexp.MustCompile(`(?i)malware`)
	ends        = map[string]bool{"task.cancelled": true, "task.approved": true, "task.disputed": true}
	mutex       sync.Mutex
	lastMs      int64
	underWay    sync.WaitGroup
	noRedirects = &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
)

// --- signatures, in both directions ---

func signatureOf(timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func isGenuine(header http.Header, body []byte) bool {
	timestamps, signatures := header.Values("X-Service-Timestamp"), header.Values("X-Service-Signature")
	if len(timestamps) != 1 || len(signatures) != 1 {
		return false
	}
	if !thirteen.MatchString(timestamps[0]) || !sixtyFour.MatchString(signatures[0]) {
		return false
	}
	ms, _ := strconv.ParseInt(timestamps[0], 10, 64)
	age := time.Since(time.UnixMilli(ms))
	if age > fiveMinutes || age < -fiveMinutes {
		return false
	}
	return hmac.Equal([]byte(signatureOf(timestamps[0], body)), []byte(signatures[0]))
}

// No two callbacks have the same time, and so no two the same signature.
func sign(header http.Header, body []byte) {
	mutex.Lock()
	lastMs++
	if now := time.Now().UnixMilli(); now > lastMs {
		lastMs = now
	}
	timestamp := strconv.FormatInt(lastMs, 10)
	mutex.Unlock()
	header.Set("Content-Type", "application/json")
	header.Set("X-Service-Timestamp", timestamp)
	header.Set("X-Service-Signature", signatureOf(timestamp, body))
}

// --- what it remembers: each change is a line of JSON at the end of a file ---

type memory struct {
	Submitted bool   `json:"submitted"`
	Delivered int    `json:"delivered"`
	Over      string `json:"over"`
}

type change struct {
	Task  string   `json:"task,omitempty"`
	Is    *memory  `json:"is,omitempty"`
	Seen  []string `json:"seen,omitempty"`
	Begun *begun   `json:"begun,omitempty"`
	Ended string   `json:"ended,omitempty"`
}

type begun struct {
	Key   string `json:"key"`
	Event event  `json:"event"`
}

var (
	tasks      = map[string]memory{}
	marks      = map[string]bool{}
	unfinished = map[string]begun{}
)

func apply(c change) {
	if c.Is != nil {
		tasks[c.Task] = *c.Is
	}
	for _, mark := range c.Seen {
		marks[mark] = true
	}
	if c.Begun != nil {
		unfinished[c.Begun.Key] = *c.Begun
	}
	delete(unfinished, c.Ended)
}

// Whoever calls it has the mutex.
func keep(c change) {
	apply(c)
	if stateFile == "" {
		return
	}
	line, _ := json.Marshal(c)
	file, err := os.OpenFile(stateFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Println(err)
		return
	}
	defer file.Close()
	file.Write(append(line, '\n'))
}

func recall() {
	file, err := os.Open(stateFile)
	if err != nil {
		return
	}
	defer file.Close()
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		// The last line may have been cut off in the midst.
		if err != nil {
			return
		}
		var c change
		if json.Unmarshal(line, &c) == nil {
			apply(c)
		}
	}
}

func taskNamed(id string) memory {
	mutex.Lock()
	defer mutex.Unlock()
	return tasks[id]
}

func note(id string, how func(*memory)) {
	mutex.Lock()
	defer mutex.Unlock()
	is := tasks[id]
	how(&is)
	keep(change{Task: id, Is: &is})
}

// --- callbacks: repeated with the same bytes until an answer is heard, but not for ever ---

func callback(d data, fields map[string]string, wanted func() bool) bool {
	fields["taskId"] = d.TaskID
	body, _ := json.Marshal(fields)
	header := http.Header{}
	sign(header, body)
	signedAt, refused := time.Now(), 0
	for attempt := 0; attempt < mostAttempts && wanted(); attempt++ {
		status, wait := post(d.CallbackURL, header, body)
		if status >= 200 && status < 300 {
			return true
		}
		if status == 401 {
			refused++
		}
		passing := status == 0 || status >= 500 || (status >= 300 && status < 400) || status == 401 || status == 408 || status == 429
		// 400 and 409 say that the task has moved on.
		if !passing || refused == 3 {
			return false
		}
		if backoff := 200 * time.Millisecond << attempt; backoff > wait {
			wait = backoff
		}
		time.Sleep(wait)
		if status == 401 || time.Since(signedAt) > 4*time.Minute {
			sign(header, body)
			signedAt = time.Now()
		}
	}
	return false
}

// Returns 0 as the status if no answer came.
func post(url string, header http.Header, body []byte) (int, time.Duration) {
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return 400, 0
	}
	// What Go repeats by itself is not counted here.
	request.GetBody = nil
	request.Header = header.Clone()
	response, err := noRedirects.Do(request)
	if err != nil {
		return 0, 0
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode, retryAfter(response.Header.Get("Retry-After"))
}

func retryAfter(header string) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = time.Until(date)
	}
	if wait > 2*time.Minute {
		return 2 * time.Minute
	}
	return wait
}

// --- the work ---

func work(e event, again bool) {
	d := e.Data
	goesOn := func() bool { return taskNamed(d.TaskID).Over == "" }
	always := func() bool { return true }
	switch {
	case d.Test:
		callback(d, map[string]string{"action": "accept"}, always)
	case e.Event == "task.submitted":
		if (taskNamed(d.TaskID).Submitted && !again) || !goesOn() {
			return
		}
		note(d.TaskID, func(is *memory) { is.Submitted = true })
		if malware.MatchString(d.Title) {
			callback(d, map[string]string{"action": "reject", "reason": "I write no malware."}, always)
			return
		}
		accepted := callback(d, map[string]string{"action": "accept"}, goesOn)
		// Before a restart the marketplace may have taken it, and would not take it twice.
		if accepted || again {
			deliver(d, goesOn)
		}
	case e.Event == "task.revision_requested":
		deliver(d, goesOn)
	case e.Event == "task.message" && taskNamed(d.TaskID).Over != "task.cancelled":
		said := []rune("You wrote: " + d.Message)
		if len(said) > longestMessage {
			said = said[:longestMessage]
		}
		callback(d, map[string]string{"action": "message", "content": string(said)}, always)
	}
}

func deliver(d data, goesOn func() bool) {
	version := taskNamed(d.TaskID).Delivered + 1
	parts := []string{fmt.Sprintf("Version %d", version), d.Title, d.Description, d.Requirements, d.RevisionReason}
	content := strings.TrimSpace(strings.Join(parts, "\n\n"))
	if callback(d, map[string]string{"action": "deliver", "content": content}, goesOn) {
		note(d.TaskID, func(is *memory) { is.Delivered = version })
	}
}

// --- one line of work for each task: its events come one after the other ---

type job struct {
	begun
	again bool
}

var lines = map[string][]job{}

// Whoever calls it has the mutex.
func queue(j job) {
	id := j.Event.Data.TaskID
	waiting, busy := lines[id]
	lines[id] = append(waiting, j)
	if !busy {
		underWay.Add(1)
		go workOff(id)
	}
}

func workOff(id string) {
	defer underWay.Done()
	for {
		mutex.Lock()
		waiting := lines[id]
		if len(waiting) == 0 {
			delete(lines, id)
			mutex.Unlock()
			return
		}
		next := waiting[0]
		lines[id] = waiting[1:]
		mutex.Unlock()
		work(next.Event, next.again)
		mutex.Lock()
		keep(change{Ended: next.Key})
		mutex.Unlock()
	}
}

// A retry has the id of the first attempt, a redelivery a new one; an event is known by its task, its name and its time.
func take(e event, deliveryID string) {
	ofEvent := []string{fmt.Sprintf("event %s %s %s", e.Data.TaskID, e.Event, e.Timestamp)}
	if deliveryID != "" {
		ofEvent = append(ofEvent, "delivery "+deliveryID)
	}
	mutex.Lock()
	defer mutex.Unlock()
	for _, mark := range ofEvent {
		if marks[mark] {
			return
		}
	}
	b := begun{Key: strings.Join(ofEvent, " "), Event: e}
	keep(change{Seen: ofEvent, Begun: &b})
	// Told at once, also while the task's earlier events are still worked on.
	if ends[e.Event] {
		is := tasks[e.Data.TaskID]
		is.Over = e.Event
		keep(change{Task: e.Data.TaskID, Is: &is})
	}
	queue(job{begun: b})
}

// --- the endpoint ---

func webhook(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBytes+1))
	if err != nil {
		return
	}
	var e event
	switch {
	case len(body) > mostBytes:
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case !isGenuine(r.Header, body):
		w.WriteHeader(http.StatusUnauthorized)
	case json.Unmarshal(body, &e) != nil || e.Event == "" || e.Data.TaskID == "":
		w.WriteHeader(http.StatusBadRequest)
	default:
		take(e, r.Header.Get("X-Service-Delivery-Id"))
		w.WriteHeader(http.StatusOK)
	}
}

func main() {
	if len(secret) == 0 {
		log.Fatal("MARKETPLACE_WEBHOOK_SECRET is not set")
	}
	recall()
	mutex.Lock()
	for _, b := range unfinished {
		queue(job{begun: b, again: true})
	}
	mutex.Unlock()
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(webhook)}
	go server.Serve(listener)
	fmt.Println("The agent listens")
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	<-asked
	// Ends what it has begun. What takes longer is worked on after the next start.
	limit, cancel := context.WithTimeout(context.Background(), longestEnd)
	defer cancel()
	server.Shutdown(limit)
	done := make(chan struct{})
	go func() { underWay.Wait(); close(done) }()
	select {
	case <-done:
	case <-limit.Done():
	}
}
