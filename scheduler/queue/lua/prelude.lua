-- In front of every script. KEYS[1]: prefix of all keys of the queue. ARGV[1]: run_id of the server that the caller
-- is connected to. ARGV[2]: length of a lease in ms. A script's own arguments start at ARGV[3].
local TRIES = 3
local DAY = 86400
local BEHIND_ALL = 1000000000  -- more than a plan has segments

-- A user can write anything into their own keys and pass any argument, and while a script runs the server serves no one
-- else. So each loop is over what is there, and ends after so many ids; the caller repeats the call for more.
local MOST = 500
-- Of what costs some ten commands each.
local MOST_CHANGED = 50
local MOST_ARGUMENTS = 2 * MOST + 10
if #ARGV > MOST_ARGUMENTS then return redis.error_reply('ERR more than ' .. MOST_ARGUMENTS .. ' arguments') end

local function key(name) return KEYS[1] .. name end
local function seg(id) return key('seg:' .. id) end

-- Ends the script where the keys hold what no version of Flor wrote. queue.cpp finds the text between the marks.
local function damaged(what, value)
  local shown = value and "'" .. string.sub(value, 1, 40):gsub('[^%w%.:_+-]', '?') .. "'" or 'missing'
  error('DAMAGED<' .. what .. ' is ' .. shown .. '>', 0)
end

-- `text` as a whole number that a Lua number holds exactly.
local function whole(text, what)
  if text and #text <= 15 and text:find('^%d+$') then return tonumber(text) end
  damaged(what, text)
end

-- `text` as a finite number of at least 0.
local function measure(text, what)
  local number = text and #text <= 24 and text:find('^%d[%d.e+-]*$') and tonumber(text)
  if number and number < math.huge then return number end
  damaged(what, text)
end

-- A worker may stand in front of all units.
local function position(text, what) return text == '-1' and -1 or whole(text, what) end

-- A number in the hash `meta`.
local function meta_number(field, otherwise)
  return whole(redis.call('HGET', key('meta'), field) or otherwise, 'meta: ' .. field)
end

local STATES = {ready = true, running = true, done = true, failed = true}

-- A segment whose numbers are checked; nil where there is none.
local function find_segment(id)
  if #id > 15 or not id:find('^%d+$') then return nil end
  local s = redis.call('HMGET', seg(id), 'state', 'lo', 'hi', 'cur', 'order', 'tries', 'since', 'from', 'owner',
                       'fence', 'copy', 'copy_of')
  if not s[1] then return nil end
  local name = 'seg:' .. string.sub(id, 1, 20) .. ': '
  if not STATES[s[1]] then damaged(name .. 'state', s[1]) end
  local out = {state = s[1], lo = whole(s[2], name .. 'lo'), hi = whole(s[3], name .. 'hi'),
               cur = whole(s[4], name .. 'cur'), order = whole(s[5], name .. 'order'),
               tries = whole(s[6], name .. 'tries'), owner = s[9] or '', fence = s[10] or ''}
  if out.lo > out.cur or out.cur > out.hi then damaged(name .. 'cur', s[4]) end
  out.since = s[7] and whole(s[7], name .. 'since')
  out.from = s[8] and position(s[8], name .. 'from')
  out.copy = s[11] and string.format('%d', whole(s[11], name .. 'copy'))
  out.copy_of = s[12] and string.format('%d', whole(s[12], name .. 'copy_of'))
  return out
end

-- A segment that `list` names.
local function segment_in(list, id) return find_segment(id) or damaged(list .. ': a segment that is not there', id) end

-- A queue that another server process built or brought up to date may be older than the store and older than the
-- tokens that are out (a snapshot): the caller first brings it up to date.
local function present() return redis.call('HGET', key('meta'), 'server') == ARGV[1] end

local clock  -- it stands still while a script runs
local function now_ms()
  if not clock then
    local time = redis.call('TIME')
    clock = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end
  return clock
end

local function lease_ms() return whole(ARGV[2], 'the length of a lease') end
local function lease_until() return string.format('%.0f', now_ms() + lease_ms()) end

local function event(kind, segment, unit, worker, ...)
  redis.call('XADD', key('events'), 'MAXLEN', '~', 10000, '*', 'kind', kind, 'segment', segment, 'unit', unit,
             'worker', worker, ...)
end

-- A queue that nobody works on or watches for a day goes away; it can be built anew from the store. Its `meta` goes
-- first, and without that there is no queue.
local function outlive_meta(name) redis.call('EXPIRE', key(name), 2 * DAY) end

local function keep_for_a_day()
  redis.call('EXPIRE', key('meta'), DAY)
  for _, name in ipairs({'ready', 'lease', 'running', 'fence', 'done', 'workers', 'events'}) do outlive_meta(name) end
end

-- The same for segments, some at each call: from `meta: kept` on, and at rest while that is the first one and kept for
-- long.
local function keep_some_segments()
  local first = meta_number('kept', '0')
  local fresh = redis.call('TTL', seg(string.format('%d', first))) > 1.5 * DAY
  if fresh and first == 0 then return end
  local next = first + MOST
  for number = first, fresh and first - 1 or next - 1 do
    if redis.call('EXPIRE', seg(string.format('%d', number)), 2 * DAY) == 0 then next = 0 break end
  end
  if next > 0 and redis.call('EXISTS', seg(string.format('%d', next))) == 0 then next = 0 end
  redis.call('HSET', key('meta'), 'kept', next)
end

local function make_ready(id, order)
  redis.call('ZADD', key('ready'), order, id)
  outlive_meta('ready')
end

local function heard_of(worker) redis.call('ZADD', key('workers'), string.format('%.0f', now_ms()), worker) end

local function heartbeat(worker)
  heard_of(worker)
  redis.call('EXPIRE', key('workers'), DAY)
  redis.call('EXPIRE', key('worker:' .. worker), DAY)
end

local function forget_worker(worker)
  redis.call('ZREM', key('workers'), worker)
  redis.call('DEL', key('worker:' .. worker))
  event('leave', '', '', worker)
end

-- `running` holds the ids of running segments, so that nobody has to look at all others. A script that is broken off by
-- a full Redis leaves an id too many in it, never one too few: it is added first and removed last.
local function add_running(id)
  redis.call('ZADD', key('running'), string.format('%.0f', now_ms()), id)
  outlive_meta('running')
end
local function remove_running(id) redis.call('ZREM', key('running'), id) end

-- A queue that an earlier version built has no such list. `listed`: false, or where the last call stopped.
local function list_running(listed)
  local first = listed and whole(string.sub(listed, 2), 'meta: lists_running') or 0
  local next = meta_number('next')
  local last = math.min(next, first + MOST) - 1
  for number = first, last do
    local id = string.format('%d', number)
    if segment_in('meta: next', id).state == 'running' then add_running(id) end
  end
  redis.call('HSET', key('meta'), 'lists_running', last + 1 < next and '@' .. string.format('%d', last + 1) or 1)
end

-- The worker holds the segment no more.
local function let_go(id, worker)
  redis.call('ZREM', key('lease'), id)
  if worker and worker ~= '' and redis.call('HGET', key('worker:' .. worker), 'segment') == id then
    redis.call('HDEL', key('worker:' .. worker), 'segment')
  end
end

local function next_fence()
  local incarnation, count = meta_number('incarnation'), redis.pcall('INCR', key('fence'))
  if type(count) ~= 'number' or count < 1 or count > 1e15 then damaged('fence', 'no counter') end
  return string.format('%d.%d', incarnation, count)
end

-- The segment becomes this worker's, with a new token, from its next unit. `from`: where the worker stands.
local function grant(id, worker, from)
  local s, fence = segment_in('ready', id), next_fence()
  outlive_meta('fence')
  add_running(id)
  redis.call('ZREM', key('ready'), id)
  redis.call('ZADD', key('lease'), lease_until(), id)
  outlive_meta('lease')
  redis.call('HSET', seg(id), 'state', 'running', 'owner', worker, 'fence', fence, 'from', from, 'since',
             string.format('%.0f', now_ms()))
  redis.call('HSET', key('worker:' .. worker), 'segment', id)
  event('claim', id, s.cur, worker)
  return {'segment', id, s.lo, s.hi, s.cur, fence}
end

-- All units of the segment are done, or are another's.
local function finish(id)
  local owner = redis.call('HGET', seg(id), 'owner') or ''
  let_go(id, owner)
  redis.call('ZREM', key('ready'), id)
  redis.call('HSET', seg(id), 'state', 'done')
  remove_running(id)
  event('finish', id, '', owner)
end

local function add_segment(lo, hi, order, parent)
  meta_number('next')
  local id = string.format('%d', redis.call('HINCRBY', key('meta'), 'next', 1) - 1)
  redis.call('DEL', seg(id))
  redis.call('HSET', seg(id), 'lo', lo, 'hi', hi, 'cur', lo, 'state', 'ready', 'owner', '', 'fence', '', 'tries', 0,
             'parent', parent, 'error', '', 'order', order)
  outlive_meta('seg:' .. id)
  make_ready(id, order)
  return id
end

-- [at, hi) of the segment `s` becomes a ready one, whose id is returned.
local function split_at(id, s, at)
  local tail = add_segment(at, s.hi, s.order, id)
  redis.call('HSET', seg(id), 'hi', at)
  event('split', id, at, s.owner, 'tail', tail)
  return tail
end

-- A running segment back to the ready ones from its next unit. An error counts as a try, and the segment goes behind
-- those that have had fewer: a unit that kills its workers shall not take all of them before others are done. After too
-- many tries the unit is set aside, alone, as a failed segment. `give_up`: all of the segment is.
local function hand_back(id, s, kind, error, give_up)
  if s.copy_of then  -- a copy is given up: the unit is another segment's, which may be copied again
    redis.call('HDEL', seg(s.copy_of), 'copy')
    event(kind, id, s.cur, s.owner, 'error', error)
    return finish(id)
  end
  let_go(id, s.owner)
  redis.call('HSET', seg(id), 'owner', '', 'fence', '')
  local tries = s.tries
  if error ~= '' then
    redis.call('HSET', seg(id), 'error', error)
    tries = redis.call('HINCRBY', seg(id), 'tries', 1)
    if give_up or tries >= TRIES then
      if not give_up and s.cur + 1 < s.hi then split_at(id, s, s.cur + 1) end
      redis.call('HSET', seg(id), 'state', 'failed')
      remove_running(id)
      event('fail', id, s.cur, s.owner, 'error', error)
      return
    end
  end
  redis.call('HSET', seg(id), 'state', 'ready')
  remove_running(id)
  make_ready(id, s.order + tries * BEHIND_ALL)
  event(kind, id, s.cur, s.owner, 'error', error)
end

-- How many segments it handed back, MOST_CHANGED where there may be more.
local function reap_expired()
  local expired = redis.call('ZRANGEBYSCORE', key('lease'), '-inf', string.format('%.0f', now_ms()), 'LIMIT', 0,
                             MOST_CHANGED)
  for _, id in ipairs(expired) do
    local s = segment_in('lease', id)
    hand_back(id, s, 'reap', 'the lease of worker ' .. s.owner .. ' ran out', false)
  end
  return #expired
end

-- Proof units have ids behind those of all others (core/proof.h).
local function first_proof()
  return redis.call('HEXISTS', key('meta'), 'first_proof') == 0 and math.huge or meta_number('first_proof')
end

-- Keeps what is known of a unit that is done. 1, or 0 where it was done before.
local function keep_done(unit, kept)
  local first = redis.call('HSETNX', key('done'), string.format('%d', unit), kept)
  if first == 1 and unit >= first_proof() then redis.call('HINCRBY', key('meta'), 'proofs_done', 1) end
  return first
end

-- Units that are done, proof units not counted.
local function done_count()
  local meta = redis.call('HMGET', key('meta'), 'proofs', 'proofs_done', 'first_proof')
  local proofs = 0
  if meta[2] then
    proofs = whole(meta[2], 'meta: proofs_done')
  elseif meta[1] and meta[3] then  -- a queue of an earlier version
    local first = first_proof()
    for slot = first, first + math.min(MOST, whole(meta[1], 'meta: proofs')) - 1 do
      proofs = proofs + redis.call('HEXISTS', key('done'), string.format('%d', slot))
    end
  end
  return math.max(0, redis.call('HLEN', key('done')) - proofs)
end

-- A queue is built, or brought up to date, in steps. Meanwhile its `meta` names no server, and the number of units where
-- it is built; so no one uses it. Another who begins to build takes over.
local function is_being_built(builder) return redis.call('HGET', key('meta'), 'builder') == builder end
