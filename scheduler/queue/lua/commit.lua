-- ARGV[3] segment, ARGV[4] fence, ARGV[5] unit, ARGV[6] worker, ARGV[7] what is kept of the unit (JSON), ARGV[8] seconds
-- that it would have taken a worker of speed 1, ARGV[9] seconds that it took; 0: not known.
-- {'ok', hi, again} | {'lost'} | {'hole', unit}: that unit before this one is not done | {'absent'}
if not present() then return {'absent'} end

-- What a worker's speed is now counts more than what it was.
local function credit(name, units, work, seconds)
  local w = redis.call('HMGET', key('worker:' .. name), 'units', 'work', 'busy')
  units = string.format('%d', units + tonumber(w[1] or '0'))
  if work <= 0 or seconds <= 0 then return redis.call('HSET', key('worker:' .. name), 'units', units) end
  work, seconds = work + tonumber(w[2] or '0') / 2, seconds + tonumber(w[3] or '0') / 2
  redis.call('HSET', key('worker:' .. name), 'units', units, 'work', string.format('%.6g', work), 'busy',
             string.format('%.6g', seconds), 'speed', string.format('%.6g', work / seconds))
end

-- The segment in which the same unit is executed as well, if there is one.
local function other_is_done(other, done)
  if not other then return end
  local o = redis.call('HMGET', seg(other), 'state', 'cur', 'hi')
  if o[1] == 'done' or tonumber(o[2]) ~= done then return end
  redis.call('HSET', seg(other), 'cur', done + 1)
  if done + 1 >= tonumber(o[3]) then finish(other) end
end

local id, unit, worker = ARGV[3], tonumber(ARGV[5]), ARGV[6]
local s = redis.call('HMGET', seg(id), 'fence', 'state', 'lo', 'hi', 'cur', 'copy', 'copy_of')
if s[1] ~= ARGV[4] then return {'lost'} end
local lo, hi, cur = tonumber(s[3]), tonumber(s[4]), tonumber(s[5])
if unit < lo or unit >= hi then return {'lost'} end
-- The segment ends with its last unit, so a commit repeated after a time-out may find it done.
if s[2] == 'done' then return {'ok', s[4], 1} end
if s[2] ~= 'running' then return {'lost'} end
for before = cur, unit - 1 do
  if redis.call('HEXISTS', key('done'), before) == 0 then return {'hole', before} end
end

local first = redis.call('HSETNX', key('done'), ARGV[5], ARGV[7])
outlive_meta('done')
local next = math.max(cur, unit + 1)
redis.call('HSET', seg(id), 'tries', 0, 'error', '', 'cur', next, 'from', next, 'since', string.format('%.0f', now_ms()))
redis.call('ZADD', key('lease'), lease_until(), id)
credit(worker, first, tonumber(ARGV[8]), tonumber(ARGV[9]))
heard_of(worker)
event('commit', id, ARGV[5], worker, 'again', 1 - first)
if unit + 1 >= hi then finish(id) end
other_is_done(s[6] or s[7], unit)
return {'ok', s[4], 1 - first}
