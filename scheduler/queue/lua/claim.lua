-- ARGV[3] worker, ARGV[4] from: the first unit it can begin at, -1 for any.
-- {'segment', id, lo, hi, cur, fence} | {'wait'} | {'behind'} | {'done'} | {'absent'}
if not present() then return {'absent'} end
local worker, from = ARGV[3], tonumber(ARGV[4])

local function grant(id)
  local fence = redis.call('HGET', key('meta'), 'incarnation') .. '.' ..
                string.format('%d', redis.call('INCR', key('fence')))
  redis.call('ZREM', key('ready'), id)
  redis.call('ZADD', key('lease'), lease_until(), id)
  redis.call('HSET', seg(id), 'state', 'running', 'owner', worker, 'fence', fence)
  redis.call('HSET', key('worker:' .. worker), 'segment', id)
  local s = redis.call('HMGET', seg(id), 'lo', 'hi', 'cur')
  event('claim', id, s[3], worker)
  return {'segment', id, s[1], s[2], s[3], fence}
end

heartbeat(worker)

-- A worker that holds a segment and claims has never got the answer (a time-out): the same one again.
local held = redis.call('HGET', key('worker:' .. worker), 'segment')
if held then
  local s = redis.call('HMGET', seg(held), 'owner', 'state', 'cur')
  if s[1] == worker and s[2] == 'running' then
    if tonumber(s[3]) >= from then return grant(held) end
    hand_back(held, 'release', '', false)
  end
end

reap_expired()

local ready = redis.call('ZRANGE', key('ready'), 0, -1)
for _, id in ipairs(ready) do
  if tonumber(redis.call('HGET', seg(id), 'cur')) >= from then return grant(id) end
end

-- The unit that a victim now executes stays its own, so it needs two.
local running = redis.call('ZRANGE', key('lease'), 0, -1)
local victim, point, most, ahead = nil, nil, 1, false
for _, id in ipairs(running) do
  local s = redis.call('HMGET', seg(id), 'cur', 'hi')
  local cur, hi = tonumber(s[1]), tonumber(s[2])
  local at = hi - math.floor((hi - cur) / 2)
  if hi - cur > most and at >= from then victim, point, most = id, at, hi - cur end
  if hi > from then ahead = true end
end
if victim then return grant(split_at(victim, point)) end

if #ready > 0 then return {'behind'} end
if #running > 0 then return {ahead and 'wait' or 'behind'} end
return {'done'}
