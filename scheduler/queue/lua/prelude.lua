-- In front of every script. KEYS[1]: prefix of all keys of the queue. ARGV[1]: run_id of the server that the caller
-- is connected to. ARGV[2]: length of a lease in ms. A script's own arguments start at ARGV[3].
local TRIES = 3
local DAY = 86400
local BEHIND_ALL = 1000000000  -- more than a plan has segments

local function key(name) return KEYS[1] .. name end
local function seg(id) return key('seg:' .. id) end

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

local function lease_until() return string.format('%.0f', now_ms() + tonumber(ARGV[2])) end

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
  if redis.call('TTL', seg('0')) > 1.5 * DAY then return end
  for id = 0, tonumber(redis.call('HGET', key('meta'), 'next')) - 1 do
    outlive_meta('seg:' .. string.format('%d', id))
  end
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

-- A queue that an earlier version built has no such list.
local function list_running()
  for number = 0, tonumber(redis.call('HGET', key('meta'), 'next')) - 1 do
    local id = string.format('%d', number)
    if redis.call('HGET', seg(id), 'state') == 'running' then add_running(id) end
  end
  redis.call('HSET', key('meta'), 'lists_running', 1)
end

-- The worker holds the segment no more.
local function let_go(id, worker)
  redis.call('ZREM', key('lease'), id)
  if worker and worker ~= '' and redis.call('HGET', key('worker:' .. worker), 'segment') == id then
    redis.call('HDEL', key('worker:' .. worker), 'segment')
  end
end

-- The segment becomes this worker's, with a new token, from its next unit. `from`: where the worker stands.
local function grant(id, worker, from)
  local fence = redis.call('HGET', key('meta'), 'incarnation') .. '.' ..
                string.format('%d', redis.call('INCR', key('fence')))
  outlive_meta('fence')
  add_running(id)
  redis.call('ZREM', key('ready'), id)
  redis.call('ZADD', key('lease'), lease_until(), id)
  outlive_meta('lease')
  redis.call('HSET', seg(id), 'state', 'running', 'owner', worker, 'fence', fence, 'from', from, 'since',
             string.format('%.0f', now_ms()))
  redis.call('HSET', key('worker:' .. worker), 'segment', id)
  local s = redis.call('HMGET', seg(id), 'lo', 'hi', 'cur')
  event('claim', id, s[3], worker)
  return {'segment', id, s[1], s[2], s[3], fence}
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
  local id = string.format('%d', redis.call('HINCRBY', key('meta'), 'next', 1) - 1)
  redis.call('DEL', seg(id))
  redis.call('HSET', seg(id), 'lo', lo, 'hi', hi, 'cur', lo, 'state', 'ready', 'owner', '', 'fence', '', 'tries', 0,
             'parent', parent, 'error', '', 'order', order)
  outlive_meta('seg:' .. id)
  make_ready(id, order)
  return id
end

-- [at, hi) becomes a ready segment, whose id is returned.
local function split_at(id, at)
  local s = redis.call('HMGET', seg(id), 'hi', 'order', 'owner')
  local tail = add_segment(at, s[1], s[2], id)
  redis.call('HSET', seg(id), 'hi', at)
  event('split', id, at, s[3] or '', 'tail', tail)
  return tail
end

-- A running segment back to the ready ones from its next unit. An error counts as a try, and the segment goes behind
-- those that have had fewer: a unit that kills its workers shall not take all of them before others are done. After too
-- many tries the unit is set aside, alone, as a failed segment. `give_up`: all of the segment is.
local function hand_back(id, kind, error, give_up)
  local s = redis.call('HMGET', seg(id), 'owner', 'cur', 'order', 'copy_of')
  if s[4] then  -- a copy is given up: the unit is another segment's, which may be copied again
    redis.call('HDEL', seg(s[4]), 'copy')
    event(kind, id, s[2], s[1] or '', 'error', error)
    return finish(id)
  end
  let_go(id, s[1])
  redis.call('HSET', seg(id), 'owner', '', 'fence', '')
  if error ~= '' then
    redis.call('HSET', seg(id), 'error', error)
    local tries = redis.call('HINCRBY', seg(id), 'tries', 1)
    if give_up or tries >= TRIES then
      local next = tonumber(s[2]) + 1
      if not give_up and next < tonumber(redis.call('HGET', seg(id), 'hi')) then split_at(id, next) end
      redis.call('HSET', seg(id), 'state', 'failed')
      remove_running(id)
      event('fail', id, s[2], s[1] or '', 'error', error)
      return
    end
  end
  redis.call('HSET', seg(id), 'state', 'ready')
  remove_running(id)
  local tried = tonumber(redis.call('HGET', seg(id), 'tries'))
  make_ready(id, tonumber(s[3]) + tried * BEHIND_ALL)
  event(kind, id, s[2], s[1] or '', 'error', error)
end

local function reap_expired()
  local expired = redis.call('ZRANGEBYSCORE', key('lease'), '-inf', string.format('%.0f', now_ms()))
  for _, id in ipairs(expired) do
    local owner = redis.call('HGET', seg(id), 'owner') or ''
    hand_back(id, 'reap', 'the lease of worker ' .. owner .. ' ran out', false)
  end
  return #expired
end

-- Proof units have ids behind those of all others (core/proof.h).
local function first_proof() return tonumber(redis.call('HGET', key('meta'), 'first_proof') or '') or math.huge end

-- Units that are done, without and of proof units.
local function done_counts()
  local meta = redis.call('HMGET', key('meta'), 'first_proof', 'proofs')
  local proofs = 0
  for slot = 0, tonumber(meta[2] or '0') - 1 do
    proofs = proofs + redis.call('HEXISTS', key('done'), string.format('%d', tonumber(meta[1]) + slot))
  end
  return redis.call('HLEN', key('done')) - proofs, proofs
end

local function delete_all()
  local last = tonumber(redis.call('HGET', key('meta'), 'next') or '0')
  for id = 0, last - 1 do redis.call('DEL', seg(string.format('%d', id))) end
  for _, worker in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do
    redis.call('DEL', key('worker:' .. worker))
  end
  redis.call('DEL', key('meta'), key('ready'), key('lease'), key('running'), key('fence'), key('done'), key('workers'))
end
