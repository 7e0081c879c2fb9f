// The C interface of Flor: the door for other languages. The Python package `flor` is built on it. Link
// libflor-c, not libflor.
//
// A front end calls it to tell what its program does: loops, blocks, guards, rows, arguments. Its callbacks
// save and restore the program's objects and generators. Flor decides whether to record, to replay, or to do
// neither, by the environment of the process (docs/reference.md).
//
// Call loops, blocks, guards and arguments on the thread that trains: the first one that enters a loop, a
// block or a guard. On other threads loops are plain, blocks execute, and flor_note_unheld() and
// flor_reject() do nothing. All other calls are for any thread. No call throws. In a replay any call may end
// the process, or start the program again. While recording, a call may end it, too: after SIGTERM, once a
// last checkpoint is written, and where a resumption that was asked for is impossible. Where one that was not
// asked for is impossible, the program starts again, unrecorded.
//
// Texts are UTF-8 and end with a NUL, unless a size is given. Only `context` and `data` must outlive the call
// that they are passed to.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLOR_C_API __attribute__((visibility("default")))

// The version of this interface that the library has. A front end made for another one must not go on.
#define FLOR_C_VERSION 6
FLOR_C_API int32_t flor_c_version(void);

// --- What callbacks get and give. ---

// A named piece of state: `bytes` bytes in C order of `dims` dimensions. `dtype` is the type's name in
// safetensors: "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL", … No name may begin with
// "generator." or "@", which are Flor's. One that begins with "~" is compared with nothing: its value may
// differ between executions.
typedef struct flor_buffer {
  const char* name;
  const char* dtype;
  const int64_t* shape;
  int32_t dims;
  // Of live state: 1 if `data` is the object's own memory, into which Flor may write recorded values itself;
  // 2 if it is the object's own memory, and a restore may have to make another object: then it only reads it;
  // 0 if it is a copy.
  int32_t is_own;
  // Of recorded state, NULL if the object holds these bytes already, or will when restore() is called: then
  // `bytes` is 0, and the object must be left as it is.
  const void* data;
  uint64_t bytes;
  // Of an object's own memory: a number that tells it from others, such as its address, and a counter that
  // most writes to it increase. While both stay the same, Flor compares the bytes with what it last wrote,
  // and does not write them again if they are equal. 0 as `memory`: it writes them each time.
  uint64_t memory;
  uint64_t version;
} flor_buffer;

// Takes what a callback returns.
typedef struct flor_answer flor_answer;
// Adds a buffer. Its data must stay valid: an object's own memory until the flor_…() call returns, a copy
// until the next save() of the same state.
FLOR_C_API void flor_put_buffer(flor_answer* answer, const flor_buffer* buffer);
// Adds a text of `bytes` bytes, any bytes, under a key.
FLOR_C_API void flor_put_text(flor_answer* answer, const char* key, const void* text, uint64_t bytes);
// Says that the callback failed. A recording stops with a warning that has this reason; a worker of a replay
// ends, and another one tries.
FLOR_C_API void flor_fail(flor_answer* answer, const char* reason);
// Says that there is no memory to save the state. A recording takes no checkpoint this time, and asks again
// at the next one; in a replay it is a failure.
FLOR_C_API void flor_fail_for_memory(flor_answer* answer, const char* reason);
// Says that the callback has run to its end. Its last call. A callback that neither did this nor failed was
// interrupted, as by an exception of a signal handler: it is called again, up to twice.
FLOR_C_API void flor_done(flor_answer* answer);

// Recorded state. Lives until the callback that got it returns.
typedef struct flor_tensors flor_tensors;
FLOR_C_API uint64_t flor_tensors_count(const flor_tensors* tensors);
// Sets `buffer` to number `index`, in order of their names. `index` must be below the count: it is not
// checked.
FLOR_C_API void flor_tensors_at(const flor_tensors* tensors, uint64_t index, flor_buffer* buffer);

// Recorded texts by their keys. Lives until the callback that got it returns.
typedef struct flor_texts flor_texts;
FLOR_C_API uint64_t flor_texts_count(const flor_texts* texts);
// Sets `key`, and the text with its size, to those of number `index`, in order of the keys. `index` must be
// below the count: it is not checked.
FLOR_C_API void flor_texts_at(const flor_texts* texts, uint64_t index, const char** key, const void** text,
                              uint64_t* bytes);

// --- The front end: once per process. ---

// Each callback gets `context`. None may be NULL. Flor calls them inside a flor_…() call, on that thread, and
// inside exit() until flor_detach().
typedef struct flor_frontend {
  void* context;
  // Puts the state of each default random number generator under its name.
  void (*generators)(void* context, flor_answer* answer);
  void (*set_generators)(void* context, const flor_texts* states, flor_answer* answer);
  // Puts what must be equal for equal bits: threads, versions, processor, GPU.
  void (*environment)(void* context, flor_answer* answer);
  // Sets what a running process can still set of a recorded environment.
  void (*apply)(void* context, const flor_texts* environment, flor_answer* answer);
  // Puts the absolute path of each source file of the program as a key, with an empty text.
  void (*sources)(void* context, flor_answer* answer);
  // Waits for the device.
  void (*synchronize)(void* context, flor_answer* answer);
} flor_frontend;

// Begins. Call it first, on one thread; later calls do nothing. Without it loops are plain, blocks execute,
// rows go nowhere, and arguments have their fallbacks.
FLOR_C_API void flor_start(const flor_frontend* frontend);
// Makes no callbacks from here on. Call it before the language's runtime ends: Flor itself ends
// with the process.
FLOR_C_API void flor_detach(void);

// Ends the recording or the replay as the end of the process does. Call it only where the process ends
// without exit(), as by _exit().
FLOR_C_API void flor_finish(int32_t exit_code);

// Was this process started to be recorded? So also before the first loop, and where another process of the
// launch keeps the record; no longer after the recording failed. Does this process belong to a replay? So to
// its end, worker or not, and in forked children.
FLOR_C_API int32_t flor_recording(void);
FLOR_C_API int32_t flor_replaying(void);
// Does this thread record or replay? If not, a front end can leave out the state of blocks and guards. Every
// thread may, until one has entered a loop, a block or a guard.
FLOR_C_API int32_t flor_active(void);

// --- Loops. They nest, and each call concerns the innermost one. ---

// What a loop runs over. FLOR_RANGE: counts from `begin` to `end` - 1. FLOR_CONTAINER: counts elements from
// 0; `end` is their number, or -1 if that is unknown. FLOR_ONE_PASS: a container whose elements are others
// where they are asked for at another moment, as those of a shuffling loader. A resumed recording and a
// replay do not begin such a loop in its middle.
enum { FLOR_CONTAINER = 0, FLOR_RANGE = 1, FLOR_ONE_PASS = 2 };
FLOR_C_API void flor_enter_loop(const char* name, int32_t over, int64_t begin, int64_t end);
// Ends the present iteration, if any. `natural` is the value that would follow; `has_natural` is 0 at the
// loop's end. Returns 1 and sets `value` to the value to go on with, or returns 0: the loop is over. A replay
// and a resumed recording may go on with a larger value; a container must then be advanced to it.
FLOR_C_API int32_t flor_next(int32_t has_natural, int64_t natural, int64_t* value);
// Begins the iteration with this value. Call it after the container was advanced; where that came to its end
// first, leave the loop instead.
FLOR_C_API void flor_begin(int64_t value);
enum { FLOR_EXHAUSTED = 0, FLOR_EARLY = 1, FLOR_UNWOUND = 2 };
// `how`: the loop came to its end, was left early, or was left by an exception.
FLOR_C_API void flor_leave_loop(int32_t how);

// --- Blocks and guards. ---

// The objects of a block or guard. `expect` and `ready` may be NULL. Any may fail. Where check() does, the
// checkpoint is not used, and what it would have saved is executed. Where restore() does, a resumed recording
// ends or starts again as above.
typedef struct flor_state_calls {
  void* context;
  // Puts the live state as buffers, read anew at each call.
  void (*save)(void* context, flor_answer* answer);
  // Fails with the reason where recorded state does not fit the objects. Writes nothing.
  void (*check)(void* context, const flor_tensors* tensors, flor_answer* answer);
  // Writes recorded state into the objects. The state has passed check().
  void (*restore)(void* context, const flor_tensors* tensors, flor_answer* answer);
  // NULL, or: the keys are the names of all buffers that were recorded at a place. The next save() is
  // compared with these. For a front end that finds out while it records what a block changes, and puts more
  // from then on.
  void (*expect)(void* context, const flor_texts* names, flor_answer* answer);
  // NULL, or: fails where the objects do not hold all that a step of an inner loop leaves to the next one. It
  // is asked before a checkpoint between two steps, which is then not taken. `is_last`: the process ends
  // behind that checkpoint.
  void (*ready)(void* context, int32_t is_last, flor_answer* answer);
} flor_state_calls;

typedef struct flor_state flor_state;
// The caller frees it, after it has left the block or the guard. Returns NULL where there is no memory: then
// execute the block, and enter and leave neither block nor guard.
FLOR_C_API flor_state* flor_new_state(const flor_state_calls* calls);
FLOR_C_API void flor_free_state(flor_state* state);

// Returns 1 to execute the block, 0 where its effects were restored. Leave it in both cases. `state` may be
// NULL only where flor_active() is 0.
FLOR_C_API int32_t flor_enter_block(const char* name, flor_state* state);
// `unwound`: an exception leaves the block.
FLOR_C_API void flor_leave_block(int32_t unwound);
// A guard holds what an iteration of the main loop passes to the next. Enter it in front of the main loop,
// and leave it behind that. One that is entered inside an iteration, in front of the first loop in there,
// holds what a step of that loop passes to the next: a checkpoint may then be taken in flor_next() of that
// loop, and flor_enter_loop() may restore one. NULL does nothing.
FLOR_C_API void flor_enter_guard(flor_state* state);
FLOR_C_API void flor_leave_guard(flor_state* state);

// Notes in the record that an execution of a block changed something that none of its objects holds. `block`:
// its name; "" for an iteration of the main loop, and then the guard's objects count. `path`: what changed,
// by the front end's own name for it; "*": not every execution was watched. `matters`: 1 if other code reads
// it; then a resumed recording does not restore the block. Does nothing outside of a recording.
FLOR_C_API void flor_note_unheld(const char* block, const char* path, int32_t matters);

// Notes that this process is in a group of several that train together, as one of torch.distributed. Its run
// is never resumed: the others would begin anew. Call it as soon as there is such a group: before a loop or a
// block is entered, nothing is restored any more, and a recording begins from the start; within a loop,
// before the next flor_next(), the checkpoint of that iteration is not resumed from. Later calls do nothing.
// Needed only where the launcher sets none of WORLD_SIZE, SLURM_STEP_NUM_TASKS, OMPI_COMM_WORLD_SIZE,
// PMI_SIZE and MV2_COMM_WORLD_SIZE to more than 1. Does nothing outside of a recording.
FLOR_C_API void flor_note_group(void);

// Tells that the front end took seconds from training, between two calls of Flor's, as to look what a block
// changes. They count as a cost of the recording, within ε and in its report. Does nothing outside of a
// recording.
FLOR_C_API void flor_spent(double seconds);

// Says that the program fails by a fault of its own, such as a name that does not exist: another try would
// not cure it. `why`: one line with the place. Ends a replay, and does not return then, unless the recorded
// program failed there, too. Does nothing outside of a replay.
FLOR_C_API void flor_reject(const char* why);

// Says that the program uses a value that the record does not have, and that a restore left unknown. Ends a
// replay, and a resumed recording: where the user asked for the resumption the process ends, else the program
// starts again, unrecorded. Does not return then. `why`: one line with the place. Does nothing else.
FLOR_C_API void flor_cannot_go_on(const char* why);

// --- Rows and arguments. ---

// Logs a row. `json` is the JSON text of the value, on one line; it is not checked. Numbers that are not
// finite are the strings "NaN", "Infinity" and "-Infinity". `how`: a sum of what follows, or 0. Any thread;
// on another one than that which trains, the row of a recorded or replayed program is only printed.
enum {
  FLOR_VOLATILE = 1,  // the value may differ between executions
  FLOR_QUIET = 2      // it is not printed: the program itself shows the value
};
FLOR_C_API void flor_log(const char* name, const char* json, int32_t how);
// Writes the shortest JSON text that reads back to the same number, and a NUL, to `text` of 40 bytes or more.
FLOR_C_API void flor_number_text(double value, char* text);

// Returns the value of a hyper-parameter: the recorded or given one, else `fallback`. The text is valid until
// this thread calls flor_argument() again. It may be `fallback` itself: keep that alive.
FLOR_C_API const char* flor_argument(const char* name, const char* fallback);
// Call where the program cannot use the text of an argument: tells which value it uses instead.
FLOR_C_API void flor_use_argument(const char* name, const char* value);

// Returns how many bytes of host memory may be taken to save a state: training is left the rest of what is
// available. Reads files of /proc and /sys. Any thread.
FLOR_C_API uint64_t flor_room(void);

// Writes the XXH3-128 digest of the bytes as 32 hexadecimal digits and a NUL to `digest`, of 33 bytes or
// more. Any thread.
FLOR_C_API void flor_digest(const void* data, uint64_t bytes, char* digest);
// Prints a warning as Flor's own, once for each text. Any thread.
FLOR_C_API void flor_warn(const char* text);

#ifdef __cplusplus
}
#endif
