-- ARGV[3] worker. {'ok'} | {'absent'}
if not present() then return {'absent'} end
if redis.call('ZSCORE', key('workers'), ARGV[3]) then forget_worker(ARGV[3]) end
return {'ok'}
